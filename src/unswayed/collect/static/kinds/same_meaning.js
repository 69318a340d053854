// A slider for each text; it has no position until it is touched.
export function start(form, words) {
  const judged = [...form.querySelectorAll('.judged')].map(section => {
    const slider = section.querySelector('input[type=range]'), shown = section.querySelector('output');
    const one = { id: section.dataset.one, section, slider, set: false };
    const touch = () => {
      one.set = true;
      slider.classList.remove('unset');
      slider.setAttribute('aria-valuetext', `${slider.value} / ${slider.max}`); // what a screen reader says
      shown.textContent = slider.value;
    };
    slider.addEventListener('input', touch);
    slider.addEventListener('click', touch);
    slider.addEventListener('keydown', event => { if (event.key.startsWith('Arrow') || event.key === ' ') touch(); });
    return one;
  });
  const said = ({ slider, section }) =>
    ({ similarity: Number(slider.value), grammatical: section.querySelector('input[type=radio]:checked').value === 'yes' });
  return {
    answer() {
      const unset = judged.find(one => !one.set);
      if (unset) { unset.slider.focus(); return words.set_slider; }
      const open = judged.find(one => !one.section.querySelector('input[type=radio]:checked'));
      if (open) { open.section.querySelector('input[type=radio]').focus(); return words.choose; }
      return said(judged[0]);
    },
    more: () => Object.fromEntries(judged.slice(1).map(one => [one.id, said(one)])),
  };
}
