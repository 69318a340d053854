// Records at the microphone's own rate, without the browser's noise suppression; the server checks and resamples.
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
  let context = null, settings = {}, pieces = [], recording = false, name = null;

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

  async function upload(blob) {
    say(words.sending);
    const place = new URL(`../../audio?item=${encodeURIComponent(form.dataset.item)}`, import.meta.url);
    const headers = { 'content-type': 'audio/wav', accept: 'application/json', 'x-csrf': form.dataset.csrf };
    for (let pause = 1000; ; pause = Math.min(pause * 2, 30000)) {
      try {
        const reply = await fetch(place, { method: 'POST', body: blob, headers });
        const said = await reply.json().catch(() => ({})); // a proxy's page is no JSON
        if (reply.ok) { name = said.audio; say(words.audio_fine); return; }
        if (reply.status < 500 && reply.status !== 429) { say(reply.status === 413 ? words.too_large : said.error || words.audio_bad); return; }
      } catch { say(words.audio_waits); }
      await new Promise(done => setTimeout(done, pause));
    }
  }

  record.addEventListener('click', async () => {
    if (recording) {
      recording = false;
      record.textContent = words.record_again;
      const blob = wav(pieces, context.sampleRate);
      listen.src = URL.createObjectURL(blob);
      listen.hidden = false;
      await upload(blob);
      return;
    }
    try { if (!context) await open(); } catch (problem) { say(`${words.no_microphone} (${problem.name})`); return; }
    await context.resume();
    pieces = []; name = null; recording = true;
    record.textContent = words.stop;
    say('');
  });
  return { log: [], answer: () => name && !recording ? { audio: name, settings } : words.record_first };
}
