/** A talk with noise, and a search for its position in the played audio. */
import { openVoice } from "../fixtures/flite";

/** Two sentences, one after the other, for eight seconds, with noise. */
export function createNoisyTalk(): Uint8Array {
  const speak = openVoice("slt");
  const rate = 16_000;
  const samples = new Float32Array(8 * rate);
  let seed = 1;
  for (let n = 0; n < samples.length; n++) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    samples[n] = 0.02 * (seed / 2 ** 31 - 1);
  }
  let at = 0.1 * rate;
  for (let n = 0; at < samples.length - rate; n++) {
    const text = n % 2 === 0 ? "Curtains and carpets absorb the echo." : "Use two lamps, one on each side.";
    const { samples: voice } = speak(text, { stretch: 1, pitch: 1 });
    for (let k = 0; k < voice.length && at + k < samples.length; k++) samples[at + k]! += 0.6 * voice[k]!;
    at += voice.length + 0.4 * rate;
  }
  return toWav(samples, rate);
}

/** Returns a file of 16-bit samples, which are from -1 to 1. */
export function toWav(samples: Float32Array, rate: number): Uint8Array {
  const file = Buffer.alloc(44 + 2 * samples.length);
  file.write("RIFF", 0);
  file.writeUInt32LE(36 + 2 * samples.length, 4);
  file.write("WAVEfmt ", 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(2 * rate, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write("data", 36);
  file.writeUInt32LE(2 * samples.length, 40);
  for (const [n, sample] of samples.entries())
    file.writeInt16LE(Math.round(32_767 * Math.max(-1, Math.min(1, sample))), 44 + 2 * n);
  return file;
}

/** Returns by how many seconds a recording of the playback is late: from half a second early to a second late. */
export function findOffset(played: Float32Array, heard: Float32Array, rate: number): number {
  const hop = rate / 200;
  const toContour = (samples: Float32Array) =>
    Array.from({ length: Math.floor(samples.length / hop) }, (_, n) =>
      Math.log(samples.subarray(n * hop, (n + 1) * hop).reduce((sum, sample) => sum + sample ** 2, 1e-6)),
    );
  const [a, b] = [toContour(played), toContour(heard)];
  let best = { score: Number.NEGATIVE_INFINITY, shift: 0 };
  for (let shift = -100; shift <= 200; shift++) {
    let score = 0;
    for (let n = 100; n < 1_200; n++) score -= Math.abs((a[n] ?? 0) - (b[n + shift] ?? 0));
    if (score > best.score) best = { score, shift };
  }
  return best.shift / 200;
}
