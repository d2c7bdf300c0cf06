import { describe, expect, test } from "bun:test";
import { measureVoice, voiceWindow } from "../../../src/domain/voice";

const RATE = 16_000;
/** A second of a voice: a pulse train through a decaying resonance, `gain` at its peaks. */
function voice(pitch: number, gain = 0.5): Float32Array {
  const samples = new Float32Array(RATE);
  for (let i = 0; i < samples.length; i++) {
    const since = (i % (RATE / pitch)) / RATE;
    samples[i] = gain * Math.exp(-since * 250) * Math.cos(2 * Math.PI * 700 * since);
  }
  return samples;
}
/** White noise with a fixed seed. */
function noise(gain: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length: RATE }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return gain * ((2 * state) / 2_147_483_647 - 1);
  });
}
const semitones = (a: number, b: number) => Math.abs(12 * Math.log2(a / b));

describe("voice", () => {
  test.each([80, 110, 150, 210, 260, 330, 400])("the pitch of a voice at %d Hz, also in noise", (pitch) => {
    expect(semitones(measureVoice(voice(pitch), RATE)!.pitch, pitch)).toBeLessThan(0.5);
    const background = noise(0.02);
    const noisy = voice(pitch).map((value, i) => value + background[i]!);
    expect(semitones(measureVoice(noisy, RATE)!.pitch, pitch)).toBeLessThan(0.5);
  });

  test("half the amplitude is 6 dB less", () => {
    const [loud, quiet] = [measureVoice(voice(120), RATE)!, measureVoice(voice(120, 0.25), RATE)!];
    expect(loud.level - quiet.level).toBeCloseTo(6.02, 1);
  });

  test("pauses and quieter voices beside a voice do not count", () => {
    const samples = voice(200, 0.5);
    samples.fill(0, 4_000, 8_000);
    samples.set(voice(100, 0.01).subarray(0, 8_000), 8_000);
    expect(semitones(measureVoice(samples, RATE)!.pitch, 200)).toBeLessThan(0.5);
  });

  test.each([
    ["noise", noise(0.3)],
    ["silence", new Float32Array(RATE)],
    ["no samples", new Float32Array(0)],
    ["a click", Float32Array.from({ length: RATE }, (_, i) => (i === 8_000 ? 1 : 0))],
    ["too little", voice(150).subarray(0, 900)],
  ])("%s has no voice", (_, samples) => {
    expect(measureVoice(samples, RATE)).toBeNull();
  });

  test("the window extends over the frames at the edges of a span", () => {
    expect(voiceWindow({ start: 1_000_000, end: 1_500_000 })).toEqual({ start: 980_000, end: 1_535_385 });
    expect(voiceWindow({ start: 5_000, end: 100_000 }).start).toBe(0);
  });
});
