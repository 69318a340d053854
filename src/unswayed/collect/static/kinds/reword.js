// A text in the person's own words, and the words in it that each label is about: typed, or taken from the selection.
export function start(form, words) {
  const field = form.querySelector('#reworded'), marks = [...form.querySelectorAll('.mark')];
  const parts = marks.map(mark => ['input:not([type])', 'button', '[type=checkbox]'].map(one => mark.querySelector(one)));
  for (const [own, take, gone] of parts) {
    take.addEventListener('click', () => {
      own.value = field.value.slice(field.selectionStart, field.selectionEnd).trim();
      gone.checked = false;
      own.focus();
    });
    gone.addEventListener('change', () => { own.disabled = take.disabled = gone.checked; });
  }
  return {
    answer() {
      const text = field.value.trim();
      if (!text) return words.type_something;
      const found = parts.map(([own, , gone]) => gone.checked ? null : own.value.trim());
      if (found.includes('')) return words.reword_all;
      const missing = found.find(one => one !== null && !text.includes(one));
      return missing === undefined ? { text, marks: found } : `${words.reword_missing} ${missing}`;
    },
  };
}
