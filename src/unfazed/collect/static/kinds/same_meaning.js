// The slider has no position until it is touched.
export function start(form, words) {
  const slider = form.querySelector('#similarity'), shown = form.querySelector('output');
  let set = false;
  const touch = () => {
    set = true;
    slider.classList.remove('unset');
    slider.removeAttribute('aria-valuetext');
    shown.textContent = slider.value;
  };
  slider.addEventListener('input', touch);
  slider.addEventListener('click', touch);
  slider.addEventListener('keydown', event => { if (event.key.startsWith('Arrow') || event.key === ' ') touch(); });
  return {
    answer() {
      const grammatical = new FormData(form).get('grammatical');
      if (!set) return words.set_slider;
      return grammatical ? { similarity: Number(slider.value), grammatical: grammatical === 'yes' } : words.choose;
    },
  };
}
