// Hands over what the microphone gives, channels mixed to one, in pieces of about a tenth of a second.
class Tap extends AudioWorkletProcessor {
  constructor() { super(); this.piece = new Float32Array(4096); this.filled = 0; }
  process([channels]) {
    const frames = channels[0] ? channels[0].length : 0;
    for (let i = 0; i < frames; i++) {
      let sum = 0;
      for (const channel of channels) sum += channel[i];
      this.piece[this.filled++] = sum / channels.length;
      if (this.filled === this.piece.length) {
        this.port.postMessage(this.piece);
        this.piece = new Float32Array(4096);
        this.filled = 0;
      }
    }
    return true;
  }
}
registerProcessor('tap', Tap);
