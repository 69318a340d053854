// Tells promptfoo which answers are right, as unswayed does. It was copied here by `unswayed export` and holds nothing of
// the data: what is right stands in each test's metadata.
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const { way, words } = JSON.parse(readFileSync(join(__dirname, "unswayed.json"), "utf8"));
const AROUND = " \t\r\n.,;:!?\"'`*()[]。，！？“”‘’「」"; // what models put around a label

function bare(text) {
  const letters = Array.from(text);
  while (letters.length && AROUND.includes(letters[0])) letters.shift();
  while (letters.length && AROUND.includes(letters[letters.length - 1])) letters.pop();
  return letters.join("").toLowerCase();
}

const normal = (text) => text.trim().split(/\s+/u).join(" ").toLowerCase();

module.exports = (output, { test }) => {
  const { targets = [], part } = test.metadata;
  const said = typeof output === "string" ? output : JSON.stringify(output);
  if (!targets.length || !["choice", "match"].includes(way)) {
    return { pass: true, score: 1, reason: `Not scored here (${part}); bring the answers back to unswayed.` };
  }
  const form = way === "choice" ? bare : normal;
  const known = way !== "choice" || Object.values(words).some((word) => form(word) === form(said));
  const right = targets.some((target) => form(target) === form(said));
  const reason = right ? "right" : known ? `said ${said.slice(0, 80)}, not ${targets.join(" or ")}` : "no label";
  return { pass: right, score: right ? 1 : 0, reason };
};
