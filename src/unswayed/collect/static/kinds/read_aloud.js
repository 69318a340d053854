// Records at the microphone's own rate, without the browser's noise suppression; the server checks and resamples.
// A take has an id from the start, stays in the browser until its answer is acknowledged, and is sent with it.
import { drop, get, of, put } from '../takes.js';

function wav(pieces, rate) {
  const count = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const view = new DataView(new ArrayBuffer(44 + count * 2));
  const text = (at, chars) => [...chars].forEach((c, i) => view.setUint8(at + i, c.charCodeAt(0)));
  text(0, 'RIFF'); view.setUint32(4, 36 + count * 2, true); text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true); view.setUint16(20, 1, true); view.setUint16(22, 1, true);
  view.setUint32(24, rate, true); view.setUint32(28, rate * 2, true); view.setUint16(32, 2, true);
  view.setUint16(34, 16, true); text(36, 'data'); view.setUint32(40, count * 2, true);
  let at = 44;
  for (const piece of pieces) for (const x of piece) { view.setInt16(at, Math.max(-1, Math.min(1, x)) * 32767, true); at += 2; }
  return new Blob([view.buffer], { type: 'audio/wav' });
}

export function start(form, words, say) {
  const [record, level, clock, listen] = ['record', 'level', 'clock', 'listen'].map(id => form.querySelector(`#${id}`));
  const { item, box, csrf } = form.dataset, limits = form.querySelector('#limits').dataset;
  let context = null, settings = {}, pieces = [], recording = false, take = null;

  async function open() { // asks for the microphone once; its level shows from then on
    const wanted = { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: false };
    const stream = await navigator.mediaDevices.getUserMedia({ audio: wanted });
    const { deviceId, groupId, ...known } = stream.getAudioTracks()[0].getSettings();
    settings = Object.fromEntries(Object.entries(known).filter(([, value]) => typeof value !== 'object'));
    // Firefox refuses a context whose rate is not the microphone's.
    context = new AudioContext(known.sampleRate ? { sampleRate: known.sampleRate } : {});
    await context.audioWorklet.addModule(new URL('../tap.js', import.meta.url));
    const tap = new AudioWorkletNode(context, 'tap', { numberOfOutputs: 0 });
    tap.port.onmessage = ({ data }) => {
      const power = data.reduce((sum, x) => sum + x * x, 0) / data.length;
      level.value = Math.max(-60, 10 * Math.log10(power + 1e-12));
      if (!recording) return;
      pieces.push(data);
      clock.textContent = `${(pieces.length * data.length / context.sampleRate).toFixed(1)} ${words.seconds}`;
    };
    context.createMediaStreamSource(stream).connect(tap);
  }

  function problem() { // what the server would refuse, said at once
    let count = 0, power = 0, full = 0;
    for (const piece of pieces) for (const x of piece) { count++; power += x * x; if (Math.abs(x) >= 0.99) full++; }
    const seconds = count / context.sampleRate;
    if (seconds < limits.shortest) return words.audio_short;
    if (seconds > limits.longest) return words.audio_long;
    if (10 * Math.log10(power / count + 1e-12) < limits.quietest) return words.audio_quiet;
    return full / count > limits.clipped ? words.audio_clipped : '';
  }

  function show(blob) {
    if (listen.src) URL.revokeObjectURL(listen.src);
    listen.src = URL.createObjectURL(blob);
    listen.hidden = false;
    record.textContent = words.record_again;
  }

  async function keep() {
    const blob = wav(pieces, context.sampleRate), id = [...crypto.getRandomValues(new Uint8Array(16))].map(n => n.toString(16).padStart(2, '0')).join('');
    show(blob);
    const wrong = problem();
    if (wrong) { say(wrong); return; }
    take = { take: id, box, item, blob, settings, at: Date.now() };
    try { await drop(box, item); await put(take); } catch { /* private windows may have no database: the page keeps it */ }
    say(words.audio_fine);
  }

  record.addEventListener('click', async () => {
    if (recording) { recording = false; await keep(); return; }
    try { if (!context) await open(); } catch (problem) { say(`${words.no_microphone} (${problem.name})`); return; }
    await context.resume();
    pieces = []; take = null; recording = true;
    record.textContent = words.stop;
    say('');
  });
  of(box, item).then(kept => { if (kept && !take && !recording) { take = kept; show(kept.blob); say(words.audio_kept); } }, () => {});

  async function deliver(one) {
    const own = take && take.take === one.answer.audio ? take : await get(one.answer.audio);
    if (!own) return ''; // it was acknowledged, and its answer was not
    const place = new URL(`../../audio?item=${encodeURIComponent(one.item)}&take=${own.take}`, import.meta.url);
    const headers = { 'content-type': 'audio/wav', accept: 'application/json', 'x-csrf': csrf };
    const reply = await fetch(place, { method: 'POST', body: own.blob, headers });
    if (reply.ok || reply.status === 403) return ''; // 403: answered already, as the answer's own reply will say
    if (reply.status === 429 || reply.status >= 500) throw new Error(reply.status);
    if (one.item === item) take = null;
    return reply.status === 413 ? words.too_large : (await reply.json().catch(() => ({}))).error || words.audio_bad;
  }
  return {
    log: [], deliver, sent: one => drop(box, one.item).catch(() => {}),
    answer: () => take && !recording ? { audio: take.take, settings: take.settings } : words.record_first,
  };
}
