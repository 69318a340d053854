// A field that only grows: nothing committed can change, while an unfinished composition may. The log goes to the server
// while it grows, so that a page that is loaded anew goes on where the last one was, its clock included.
export function start(form, words, say) {
  const field = form.querySelector('textarea');
  const { item, attempt, box, csrf } = form.dataset, here = `unswayed:${box}:draft`;
  const log = resumed();
  let committed = log.filter(e => e.e === 'commit').map(e => e.d).join(''), composing = false, began = null, sent = 0;
  if (log.length) { // the time that passed meanwhile counts
    const past = Math.max(log[log.length - 1].t, Date.now() - (log[0].w || Date.now()));
    began = performance.now() - past;
  }
  const note = (e, more = {}) => {
    const now = performance.now();
    began ??= now;
    log.push({ t: Math.round(now - began), e, ...(log.length ? {} : { w: Date.now() }), ...more });
  };
  function resumed() {
    const known = JSON.parse(form.dataset.draft);
    const own = JSON.parse(localStorage.getItem(here) || 'null');
    const more = own && own.item === item && own.attempt === attempt && own.log.length > known.length;
    return more && JSON.stringify(own.log.slice(0, known.length)) === JSON.stringify(known) ? own.log : known;
  }
  const hand = async leaving => { // hands over what is new; what does not arrive is handed over next time
    if (sent >= log.length) return;
    localStorage.setItem(here, JSON.stringify({ item, attempt, log }));
    const body = JSON.stringify({ item, attempt: Number(attempt), begins: sent, events: log.slice(sent) });
    if (leaving && body.length > 60000) return; // more than a page may send while it closes
    const headers = { 'content-type': 'application/json', accept: 'application/json', 'x-csrf': csrf };
    const reply = await fetch(new URL('../../draft', import.meta.url), { method: 'POST', body, headers, keepalive: leaving });
    if (reply.ok) sent = (await reply.json()).kept;
    else if (reply.status === 409) say(words.other_tab);
  };
  const pin = () => {
    const end = field.value.length;
    if (field.selectionStart !== end || field.selectionEnd !== end) field.setSelectionRange(end, end);
  };
  const settle = data => {
    if (field.value.startsWith(committed)) {
      const added = field.value.slice(committed.length);
      if (added) note('commit', { d: added });
    } else { // a keyboard that ignores cancelling, or takes a finished word back into composition
      note('restore', { d: field.value });
      const added = data || '';
      field.value = committed + added;
      if (added) note('commit', { d: added });
      say(words.changed_back);
    }
    committed = field.value;
    pin();
  };
  const block = (event, what) => {
    event.preventDefault();
    note('block', { d: what });
    say(words.changed_back);
  };
  for (const type of ['keydown', 'keyup']) {
    field.addEventListener(type, event => {
      if (!event.isTrusted) return; // a script's
      // The first key of a composition comes before it has begun, with code 229.
      const inside = event.isComposing || event.keyCode === 229;
      note(type === 'keydown' ? 'down' : 'up', { k: event.key, c: event.code, ...(inside && { p: 1 }) });
    });
  }
  field.addEventListener('compositionstart', () => { composing = true; note('compose', { d: '' }); });
  field.addEventListener('compositionupdate', event => note('compose', { d: event.data }));
  field.addEventListener('compositionend', event => { composing = false; settle(event.data); });
  field.addEventListener('beforeinput', event => {
    const kind = event.inputType;
    if (composing || kind === 'insertCompositionText' || kind === 'insertFromComposition') return;
    const atEnd = field.selectionStart === field.value.length && field.selectionEnd === field.value.length;
    if (kind !== 'insertText' || !atEnd) block(event, kind);
  });
  field.addEventListener('input', event => { if (!composing) settle(event.data); });
  for (const type of ['paste', 'drop', 'cut', 'dragover']) field.addEventListener(type, event => block(event, type));
  document.addEventListener('selectionchange', () => { if (!composing && document.activeElement === field) pin(); });
  const clock = form.querySelector('#clock'), speed = form.querySelector('#speed');
  setInterval(() => {
    if (began === null) return;
    const seconds = (performance.now() - began) / 1000;
    clock.textContent = Math.floor(seconds);
    if (seconds > 2) speed.textContent = Math.round(committed.length * 60 / seconds);
  }, 500);
  field.value = committed;
  if (log.length) note('resume');
  let busy = false;
  const timer = setInterval(async () => {
    if (busy) return;
    busy = true;
    try { await hand(false); } catch { /* no connection: later */ }
    busy = false;
  }, 1500);
  addEventListener('pagehide', () => { hand(true).catch(() => {}); });
  field.focus();
  pin();
  return {
    log,
    answer() {
      if (composing || !committed) return words.type_something;
      clearInterval(timer);
      sent = Infinity;
      return { text: committed };
    },
    sent: () => localStorage.removeItem(here),
  };
}
