// One page of items: gathers the answer and sends it. An answer that can't be sent stays in localStorage and is sent later.
const form = document.getElementById('task');
const say = document.getElementById('say');
const words = JSON.parse(form.dataset.words);
const box = `unswayed:${form.dataset.box}`;
const button = form.querySelector('button[type=submit]');
const { start } = await import(`./kinds/${form.dataset.kind}.js`);
const task = start(form, words, text => { say.textContent = text; });

const waiting = () => JSON.parse(localStorage.getItem(box) || '[]');
const keep = list => list.length ? localStorage.setItem(box, JSON.stringify(list)) : localStorage.removeItem(box);
const without = item => keep(waiting().filter(one => one.item !== item));
const place = name => new URL(`../${name}`, import.meta.url);
let pause = 1000, timer = 0, refused = false, elsewhere = false;

async function send(one) {
  if (task.deliver) { // what must be there before the answer, such as a recording
    const problem = await task.deliver(one);
    if (problem) { refused = true; say.textContent = problem; return; }
  }
  const reply = await fetch(place('answer'), {
    method: 'POST', body: JSON.stringify(one),
    headers: { 'content-type': 'application/json', accept: 'application/json', 'x-csrf': form.dataset.csrf },
  });
  if (reply.status === 429 || reply.status >= 500) throw new Error(reply.status);
  if (reply.status === 409) { elsewhere = true; return; } // answered in another tab
  if (reply.ok) { if (task.sent) await task.sent(one); return; }
  refused = true;
  const error = reply.status === 413 ? words.too_large : (await reply.json().catch(() => ({}))).error; // a proxy's page is no JSON
  say.textContent = `${words.refused}: ${error || reply.status}`;
}

async function flush() {
  clearTimeout(timer);
  try {
    for (const one of waiting()) {
      await send(one);
      without(one.item);
    }
  } catch {
    say.textContent = words.kept_here;
    timer = setTimeout(flush, pause);
    pause = Math.min(pause * 2, 30000);
    return;
  }
  if (refused) { refused = false; button.disabled = false; }
  else if (elsewhere) { say.textContent = words.other_tab; setTimeout(() => location.assign(place('task')), 1500); }
  else { say.textContent = words.answer_kept; location.assign(place('task')); }
}

form.addEventListener('submit', event => {
  event.preventDefault();
  if (button.disabled) return;
  const found = task.answer();
  if (typeof found === 'string') { say.textContent = found; return; }
  button.disabled = true;
  say.textContent = words.sending;
  without(form.dataset.item);
  keep([...waiting(), {
    item: form.dataset.item, answer: found, log: task.log || [], more: task.more ? task.more() : {},
    comment: form.querySelector('#comment').value.trim(), attempt: Number(form.dataset.attempt),
  }]);
  flush();
});

// Keys 1–9 choose among the answers of the first question that has none, or of the one that has the focus.
const choices = [...form.querySelectorAll('fieldset')].filter(set => set.querySelector('input[type=radio], input[type=checkbox]'));
if (choices.length) {
  for (const set of choices) {
    set.querySelectorAll('input').forEach((input, at) => {
      if (at < 9) input.insertAdjacentHTML('afterend', `<kbd aria-hidden="true">${at + 1}</kbd>`);
    });
  }
  form.querySelector('button[type=submit]').insertAdjacentHTML('beforebegin', '<p class="small" id="shortcuts"></p>');
  form.querySelector('#shortcuts').textContent = words.shortcuts;
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('textarea, input:not([type=radio], [type=checkbox])')) return;
    const own = choices.find(set => set.contains(document.activeElement));
    const open = choices.find(set => !set.querySelector(':checked')) || choices[choices.length - 1];
    const input = /^[1-9]$/.test(event.key) && (own || open).querySelectorAll('input')[Number(event.key) - 1];
    if (!input) return;
    input.click();
    const next = choices.find(set => !set.querySelector(':checked'));
    (input.type === 'radio' && next ? next.querySelector('input') : input).focus();
    event.preventDefault();
  });
}
const beside = document.querySelector('.beside');
if (beside) beside.open = matchMedia('(min-width: 70rem)').matches;
addEventListener('online', () => { if (waiting().length) flush(); });
if (waiting().length) { button.disabled = true; flush(); }
