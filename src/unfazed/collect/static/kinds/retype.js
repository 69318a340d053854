// A field that only grows: nothing committed can change, while an unfinished composition may.
export function start(form, words, say) {
  const field = form.querySelector('textarea');
  const log = [];
  let committed = '', composing = false, began = null;
  const note = (e, more = {}) => {
    const now = performance.now();
    began ??= now;
    log.push({ t: Math.round(now - began), e, ...more });
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
  field.focus();
  return { log, answer: () => composing || !committed ? words.type_something : { text: committed } };
}
