"use strict";
// Texts from outside reach the page through textContent only.
const PAGE = 50;
const $ = (id) => document.getElementById(id);
const make = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "onclick") node.addEventListener("click", value);
    else if (value !== null) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
};
const isolated = (text) => make("bdi", {}, text);
const number = (value) => (value === null ? "–" : value.toFixed(3).replace("-", "−"));
const span = ([, low, high]) => (low === null ? "" : `${number(low)} to ${number(high)}`);

let data, set, shown = [], rendered = 0, chosen = {}, turn = 0;

async function unpack(script) {
  const packed = atob(script.textContent);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Every answer is in parts, each with its own texts. A part is unpacked when it is shown or searched; few are kept.
const KEPT = 4;
const parts = new Map();
async function part(at) {
  if (!parts.has(at)) {
    const found = await unpack(document.getElementsByClassName("part")[at]);
    found.set.kinds = data.every.kinds;
    found.set.heads = data.every.heads;
    parts.set(at, found);
    if (parts.size > KEPT) parts.delete(parts.keys().next().value);
  }
  return parts.get(at);
}

// What a search looks in, of each answer: the texts, what was answered, and the example.
function prepare(one, place) {
  const { spans, head, old, new: fresh, tail } = one;
  one.hay = new Array(one.size);
  for (let i = 0; i < one.size; i++) {
    let before = "", after = "";
    for (let s = spans[i]; s < spans[i + 1]; s++) {
      before += head[s] + old[s] + tail[s] + "\n";
      after += head[s] + fresh[s] + tail[s] + "\n";
    }
    const example = place.examples[one.example[i]];
    const own = spans[i] < spans[i + 1] ? [] : example.inputs.map(([, text]) => place.texts[text]);
    const said = [one.before[i], one.after[i], one.gold[i], one.note[i]].map((t) => (t < 0 ? "" : place.texts[t]));
    one.hay[i] = [before, after === before ? "" : after, ...own, ...said, example.id].join("\n").toLowerCase();
  }
}

const MANY = 40; // values, or letters of a value, beyond which a search fits better than a list to choose from

// Filters: each has a name, what it shows, and its value of an answer.
function filters() {
  const found = [
    ["operator", "Operator", (i) => set.operator[i], (v) => data.texts[v]],
    ["kind", "Kind of change", (i) => set.kind[i], (v) => set.kinds[v]],
    ["gold", "Gold label", (i) => set.gold[i], (v) => (v < 0 ? "none" : data.texts[v])],
    ["before", `Answer ${set.heads[0]}`, (i) => set.before[i], (v) => data.texts[v]],
    ["after", `Answer ${set.heads[1]}`, (i) => set.after[i], (v) => data.texts[v]],
  ];
  const names = new Set();
  for (const example of data.examples) for (const name of Object.keys(example.groups)) names.add(name);
  for (const name of names) {
    const value = (i) => data.examples[set.example[i]].groups[name] ?? -1;
    found.push([`slice ${name}`, name, value, (v) => (v < 0 ? "none" : data.texts[v])]);
  }
  return found;
}

function counts(value) {
  const found = new Map();
  for (let i = 0; i < set.size; i++) found.set(value(i), (found.get(value(i)) ?? 0) + 1);
  return found;
}

const field = (name, title, options, act) => {
  const choose = make("select", { name, dir: "auto" }, make("option", { value: "" }, "all"), ...options);
  choose.addEventListener("change", () => act(choose.value));
  return make("label", {}, title, choose);
};
const option = (value, text, n) => make("option", { value }, `${text.slice(0, 60)} (${n.toLocaleString("en")})`);

function drawFilters() {
  const form = $("filters");
  form.replaceChildren();
  const lists = [...data.sets, ...(data.every ? [data.every] : [])];
  if (lists.length > 1) {
    const choose = make("select", { name: "set" }, ...lists.map((one, i) => make("option", { value: i }, `${one.name} (${one.size.toLocaleString("en")})`)));
    choose.value = lists.indexOf(set);
    choose.addEventListener("change", () => { open(lists[choose.value]); });
    form.append(make("label", {}, "List", choose));
  }
  const search = make("input", { type: "search", name: "search", id: "search", autocomplete: "off" });
  search.addEventListener("input", () => { chosen.search = search.value.toLowerCase(); apply(); });
  form.append(make("label", {}, "Search in texts, answers and examples", search));
  if (set === data.every) {
    for (const [name, title, text] of [["operator", "Operator", (v) => v], ["kind", "What became of it", (v) => set.kinds[v]]]) {
      const found = Object.entries(set[name]).sort((a, b) => b[1] - a[1]);
      form.append(field(name, title, found.map(([v, n]) => option(v, text(v), n)), (v) => { if (v === "") delete chosen[name]; else chosen[name] = v; apply(); }));
    }
  } else {
    for (const [name, title, value, text] of filters()) {
      const found = [...counts(value)].sort((a, b) => b[1] - a[1]);
      const letters = found.slice(0, MANY).reduce((most, [v]) => Math.max(most, text(v).length), 0);
      if (found.length < 2 || found.length > MANY || (letters > 2 * MANY && name !== "kind")) continue;
      form.append(field(name, title, found.map(([v, n]) => option(v, text(v), n)), (v) => pick(name, v === "" ? null : Number(v))));
    }
    const sort = make("select", { name: "sort" }, ...["largest loss first", "order of the data", "by operator"].map((text, i) => make("option", { value: i }, text)));
    sort.addEventListener("change", () => { chosen.sort = Number(sort.value); apply(); });
    form.append(make("label", {}, "Sort", sort));
  }
  form.append(make("button", { type: "button", onclick: clear }, "Clear filters"));
  form.addEventListener("submit", (event) => event.preventDefault());
}

function pick(name, value) {
  if (value === null) delete chosen[name];
  else chosen[name] = value;
  const field = $("filters").elements[name];
  if (field) field.value = value === null ? "" : String(value);
  apply();
}

function clear() {
  chosen = { search: "", sort: chosen.sort ?? 0 };
  for (const field of $("filters").elements) if (field.name && field.name !== "sort" && field.name !== "set") field.value = "";
  for (const cell of document.querySelectorAll("[aria-pressed=true]")) cell.setAttribute("aria-pressed", "false");
  apply();
}

function matching() {
  const tests = filters().filter(([name]) => name in chosen).map(([name, , value]) => [value, chosen[name]]);
  const found = [];
  for (let i = 0; i < set.size; i++) {
    if (tests.every(([value, wanted]) => value(i) === wanted) && (!chosen.search || set.hay[i].includes(chosen.search))) found.push(i);
  }
  if (!chosen.sort) found.sort((a, b) => (set.loss[b] ?? -9) - (set.loss[a] ?? -9) || set.kind[a] - set.kind[b] || a - b);
  if (chosen.sort === 2) found.sort((a, b) => set.operator[a] - set.operator[b] || a - b);
  return found;
}

function apply() {
  const start = performance.now();
  turn += 1;
  rendered = 0;
  $("list").replaceChildren();
  if (set === data.every) { reader = reading(turn); more(); return; }
  shown = matching();
  $("count").textContent = `${shown.length.toLocaleString("en")} of ${set.size.toLocaleString("en")} answers`;
  more();
  document.body.dataset.filtered = String(performance.now() - start);
}

// The answers that fit, part by part; parts that have none of the operator or the kind stay packed.
let reader;
async function* reading(mine) {
  for (let at = 0; at < set.parts.length && mine === turn; at++) {
    const about = set.parts[at];
    if (["operator", "kind"].some((name) => name in chosen && !(chosen[name] in about[name]))) continue;
    const found = await part(at);
    if (mine !== turn) return;
    if (chosen.search && !found.set.hay) prepare(found.set, found);
    const operator = "operator" in chosen ? found.texts.indexOf(chosen.operator) : -1;
    for (let i = 0; i < found.set.size; i++) {
      if (operator >= 0 && found.set.operator[i] !== operator) continue;
      if ("kind" in chosen && found.set.kind[i] !== Number(chosen.kind)) continue;
      if (chosen.search && !found.set.hay[i].includes(chosen.search)) continue;
      yield [found, i];
    }
    $("count").textContent = `${(at + 1).toLocaleString("en")} of ${set.parts.length.toLocaleString("en")} parts looked through …`;
  }
}

async function moreOfEvery() {
  const start = performance.now(), mine = turn, from = reader;
  const cards = [];
  let done = false;
  while (cards.length < PAGE && !done) {
    const next = await from.next();
    if (mine !== turn) return;
    if (next.done) done = true;
    else cards.push(card(next.value[1], next.value[0].set, next.value[0]));
  }
  $("list").append(...cards);
  rendered += cards.length;
  $("more").hidden = done;
  const names = ["operator", "kind"].filter((name) => name in chosen);
  const exact = chosen.search || names.length > 1 ? null : names.length ? set[names[0]][chosen[names[0]]] : set.size;
  const many = done ? rendered : exact;
  const of = `of ${set.size.toLocaleString("en")} answers`;
  $("count").textContent = many === null ? `${rendered.toLocaleString("en")} ${of} so far; there may be more` : `${many.toLocaleString("en")} ${of}`;
  document.body.dataset.filtered = String(performance.now() - start);
}

function more() {
  if (set === data.every) { moreOfEvery(); return; }
  const next = shown.slice(rendered, rendered + PAGE);
  $("list").append(...next.map((i) => card(i, set, data)));
  rendered += next.length;
  $("more").hidden = rendered >= shown.length;
}

// The words of a change, those in common left out, by the longest common subsequence.
function words(before, after) {
  const a = before.match(/\s+|[\p{L}\p{N}\p{M}'’]+|./gsu) ?? [], b = after.match(/\s+|[\p{L}\p{N}\p{M}'’]+|./gsu) ?? [];
  if (a.length * b.length > 40000) return [make("del", {}, before), make("ins", {}, after)];
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  const found = [];
  let i = 0, j = 0;
  const add = (kind, text) => { const last = found.at(-1); if (last && last[0] === kind) last[1] += text; else found.push([kind, text]); };
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { add("", a[i]); i++; j++; }
    else if (j >= b.length || (i < a.length && table[i + 1][j] >= table[i][j + 1])) add("del", a[i++]);
    else add("ins", b[j++]);
  }
  const seen = (text) => (/^\s+$/.test(text) ? text.replaceAll(" ", "␣").replaceAll("\n", "␊\n") : text);
  return found.map(([kind, text]) => (kind ? make(kind, {}, seen(text)) : text));
}

function card(i, set, place) {
  const example = place.examples[set.example[i]], inside = [];
  const changed = new Set();
  for (let s = set.spans[i]; s < set.spans[i + 1]; s++) {
    changed.add(set.field[s]);
    const change = set.old[s] === set.new[s] ? [] : words(set.old[s], set.new[s]);
    const name = place.texts[set.field[s]];
    inside.push(make("p", { class: "text", dir: "auto" }, name === "text" ? null : make("span", { class: "field" }, name, " "), set.head[s], ...change, set.tail[s]));
  }
  const pair = (name, text) => make("div", {}, make("dt", {}, name), make("dd", {}, isolated(text)));
  const facts = [pair(set.heads[0], place.texts[set.before[i]])];
  if (set.draw[i] >= 0 || place === data) facts.push(pair(set.heads[1], place.texts[set.after[i]]));
  if (set.gold[i] >= 0) facts.push(pair("gold", place.texts[set.gold[i]]));
  const rest = example.inputs.filter(([name]) => !changed.has(name) && (place !== data || set === data.sets[0]));
  const groups = Object.entries(example.groups).map(([name, value]) => `, ${name} = ${place.texts[value]}`).join("");
  const note = place.texts[set.note[i]] ? `. ${place.texts[set.note[i]]}` : "";
  return make("article", { class: `flip k${set.kind[i]}${set.loss[i] > 0 ? " lost" : ""}`, tabindex: "-1" },
    make("h3", {}, isolated(place.texts[set.operator[i]]), make("span", { class: "kind" }, set.kinds[set.kind[i]])),
    ...inside, ...(changed.size ? [] : rest.map(([name, text]) => make("p", { class: "text", dir: "auto" }, place.texts[name] === "text" ? null : make("span", { class: "field" }, place.texts[name], " "), place.texts[text]))),
    make("dl", {}, ...facts),
    ...(changed.size ? rest : []).map(([name, text]) => make("p", { class: "inputs", dir: "auto" }, `${place.texts[name]}: ${place.texts[text]}`)),
    make("p", { class: "note" }, isolated(`example ${example.id}${set.draw[i] < 0 ? "" : `, draw ${set.draw[i]}`}${groups}${note}`)));
}

const head = (...names) => make("thead", {}, make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name))));
const table = (caption, heads, rows) => make("table", { class: "measures" }, make("caption", {}, make("span", {}, caption)), head(...heads), make("tbody", {}, ...rows));
const cell = (text, title, act, pressed) => make("td", {}, make("button", { type: "button", class: "cell", "aria-label": title, "aria-pressed": pressed ? "true" : "false", onclick: (event) => {
  for (const other of document.querySelectorAll("[aria-pressed=true]")) other.setAttribute("aria-pressed", "false");
  event.currentTarget.setAttribute("aria-pressed", "true");
  act();
  $("answers").scrollIntoView({ block: "start" });
} }, text));

function drawFigures() {
  const names = { clean: "clean inputs", average: "average of variants", worst: `worst of ${data.worst_of}`, flips: "answers that change" };
  for (const [name, title] of Object.entries(names)) {
    const value = data.measures[name];
    $("figures").append(make("div", {}, make("dt", {}, title), make("dd", {}, number(value[0]), make("small", {}, span(value)))));
  }
}

function textNumber(text) { return data.texts.indexOf(text); }

function only(wanted) {
  if (set !== data.sets[0]) open(data.sets[0]);
  chosen = { search: "", sort: chosen.sort ?? 0 };
  for (const field of $("filters").elements) if (field.name && field.name !== "sort" && field.name !== "set") field.value = "";
  for (const [name, text] of Object.entries(wanted)) {
    chosen[name] = textNumber(text);
    const field = $("filters").elements[name];
    if (field) field.value = String(chosen[name]);
  }
  apply();
}

function drawHeat() {
  const columns = [...new Set(Object.values(data.grid).flatMap((cells) => Object.keys(cells)))].slice(0, 40);
  const operators = Object.keys(data.operators);
  if (!operators.length) return;
  const parts = columns.map((column) => {
    const name = data.slices.filter((slice) => column.startsWith(`${slice}=`)).sort((a, b) => b.length - a.length)[0] ?? column.split("=")[0];
    return [name, column.slice(name.length + 1)];
  });
  const rows = operators.map((operator) => make("tr", {}, make("th", { scope: "row" }, isolated(operator)),
    cell(number(data.operators[operator][0]), `${operator}, all`, () => only({ operator })),
    ...columns.map((column, i) => {
      const value = data.grid[operator]?.[column];
      return value ? cell(number(value[0]), `${operator}, ${column}`, () => only({ operator, [`slice ${parts[i][0]}`]: parts[i][1] })) : make("td", {}, "–");
    })));
  $("heat").querySelector("div").append(table("Clean minus average", ["", "all", ...columns.map(isolated)], rows));
  $("heat").hidden = false;
}

function drawConfusion() {
  if (!data.confusion || data.confusion.labels.length < 2) return;
  const { labels, before, after } = data.confusion;
  const part = (caption, counts, act) => make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption }, table(caption, ["", ...labels.map(isolated)],
    labels.map((gold, g) => make("tr", {}, make("th", { scope: "row" }, isolated(gold)), ...labels.map((answer, a) => {
      const text = counts[g][a].toLocaleString("en");
      return g === a || !counts[g][a] ? make("td", { class: "diagonal" }, text) : cell(text, `${caption}: gold ${gold}, answer ${answer}, ${text}`, () => only({ gold, [act]: answer }));
    })))));
  $("confusion").querySelector("div").append(make("div", { class: "pairs" }, part("Clean inputs", before, "before"), part("Variants", after, "after")));
  if (data.confusion.more) $("confusion").append(make("p", { class: "note" }, `${data.confusion.more} rarer labels are left out.`));
  $("confusion").hidden = false;
}

function drawCompared() {
  if (!data.compared) return;
  const place = $("compared").querySelector("div");
  place.append(...data.compared.sentences.map((sentence) => make("p", {}, sentence)));
  const rows = data.compared.rows.map(([name, measure, a, b, difference, low, high, shown]) => make("tr", {},
    make("th", { scope: "row" }, isolated(`${name}, ${measure}`)), make("td", {}, number(a)), make("td", {}, number(b)),
    make("td", {}, shown ? make("strong", {}, number(difference)) : number(difference), make("small", {}, span([0, low, high])))));
  place.append(make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Differences" }, table("Differences: bold ones are more than chance", ["", "A", "B", "B − A"], rows)));
  $("compared").hidden = false;
}

const SVG = "http://www.w3.org/2000/svg";
function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// One line per measure over the runs, with the interval at each run.
function trend(names) {
  const width = Math.max(320, 90 * data.history.length), height = 220;
  const x = (i) => 40 + (i * (width - 80)) / Math.max(1, data.history.length - 1), y = (v) => height - 30 - v * (height - 50);
  const drawing = svg("svg", { class: "chart trend", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "The measures of each run; the table below has the numbers" });
  for (const tick of [0, 0.5, 1]) drawing.append(svg("line", { class: "rule", x1: 40, x2: width - 40, y1: y(tick), y2: y(tick) }), svg("text", { class: "tick", x: 8, y: y(tick) + 4 }, String(tick)));
  for (const name of names) {
    const points = data.history.map((run, i) => [x(i), run[name]]).filter(([, value]) => value[0] !== null && value[0] >= 0 && value[0] <= 1);
    drawing.append(svg("path", { class: `s-${name}`, "stroke-width": 2, d: points.map(([px, value], i) => `${i ? "L" : "M"}${px},${y(value[0])}`).join("") }));
    for (const [px, value] of points) {
      if (value[1] !== null) drawing.append(svg("line", { class: `s-${name}`, x1: px, x2: px, y1: y(Math.max(0, value[1])), y2: y(Math.min(1, value[2])) }));
      drawing.append(svg("circle", { class: `m-${name}`, cx: px, cy: y(value[0]), r: 4 }));
    }
  }
  return drawing;
}

function drawHistory() {
  if (!data.history.length) return;
  const names = ["clean", "average", "worst"];
  const place = $("history").querySelector("div");
  place.before(make("p", { class: "legend" }, ...names.map((name) => make("span", { class: `l-${name}` }, `● ${name}`))));
  place.append(trend(names));
  const rows = data.history.map((run) => make("tr", {}, make("th", { scope: "row" }, isolated(run.name), make("small", {}, ` ${run.date}`)),
    ...[...names, "drop", "flips"].map((name) => make("td", {}, number(run[name][0]), make("small", {}, span(run[name]))))));
  place.append(table("Each run", ["", ...names, "drop", "flips"], rows));
  if (new Set(data.history.map((run) => run.suite)).size > 1) place.append(make("p", { class: "note" }, "The runs are on different suites, so their numbers are not comparable."));
  $("history").hidden = false;
}

function open(one) {
  set = one;
  if (set !== data.every && !set.hay) prepare(set, data);
  chosen = { search: "", sort: 0 };
  $("answers-h").textContent = set.name;
  drawFilters();
  apply();
}

function move(step) {
  const cards = [...$("list").children];
  const at = cards.indexOf(document.activeElement);
  if (at + step >= cards.length && !$("more").hidden) { more(); return move(step); }
  const next = cards[Math.min(Math.max(at + step, 0), cards.length - 1)];
  if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input, select, textarea");
  if (event.key === "Escape") clear();
  else if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  else if (event.key === "/") { event.preventDefault(); $("search").focus(); }
  else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
});

unpack($("data")).then((found) => {
  data = found;
  if (data.every) {  // the sums over its parts
    data.every.size = 0;
    for (const name of ["operator", "kind"]) data.every[name] = {};
    for (const one of data.every.parts) {
      data.every.size += one.size;
      for (const name of ["operator", "kind"]) for (const [value, n] of Object.entries(one[name])) data.every[name][value] = (data.every[name][value] ?? 0) + n;
    }
  }
  drawFigures();
  drawHistory();
  drawCompared();
  drawHeat();
  drawConfusion();
  $("more").addEventListener("click", more);
  open(data.sets.length > 1 ? data.sets[1] : data.sets[0].size || !data.every ? data.sets[0] : data.every);
  $("loading").hidden = true;
  $("app").hidden = false;
  document.body.dataset.ready = "yes";
}).catch((error) => { $("loading").textContent = `This page could not be read: ${error.message}. Write it again with: unswayed view`; });
