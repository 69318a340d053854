// Plays a typing log: what was committed, the composition that was open, and the keys.
const root = document.getElementById('replay');
if (root) {
  const log = JSON.parse(root.dataset.log);
  const [committed, preedit, keys, shown, at, play] =
    ['committed', 'preedit', 'keys', 'event', 'at', 'play'].map(id => document.getElementById(id));
  at.max = log.length;
  let timer = 0;
  const draw = n => {
    const past = log.slice(0, n);
    committed.textContent = past.filter(e => e.e === 'commit').map(e => e.d).join('');
    const last = past.findLast(e => e.e === 'compose' || e.e === 'commit');
    preedit.textContent = last && last.e === 'compose' ? last.d : '';
    keys.textContent = past.filter(e => e.e === 'down').slice(-20).map(e => e.c || e.k).join(' ');
    shown.textContent = n ? `${(log[n - 1].t / 1000).toFixed(2)} s · ${log[n - 1].e} ${log[n - 1].d ?? log[n - 1].c ?? ''}` : '';
    at.value = n;
  };
  const step = n => {
    draw(n);
    if (n < log.length) timer = setTimeout(step, Math.min(2000, log[n].t - (n ? log[n - 1].t : log[0].t)), n + 1);
  };
  play.addEventListener('click', () => { clearTimeout(timer); step(0); });
  at.addEventListener('input', () => { clearTimeout(timer); draw(Number(at.value)); });
  draw(log.length);
}
