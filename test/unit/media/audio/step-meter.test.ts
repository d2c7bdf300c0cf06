/** Energies and peaks of stereo are those of its channels. */
import { expect, test } from "bun:test";
import { StepMeter } from "../../../../src/media/audio/step-meter";

const RATE = 48_000;
const tone = (hertz: number) => Float32Array.from({ length: 2 * RATE }, (_, n) => 0.5 * Math.sin((n * hertz) / RATE));

/** Measures interleaved channels in blocks that do not end with steps. */
function measure(...channels: Float32Array[]) {
  const meter = new StepMeter({ sampleRate: RATE, channels: channels.length });
  const frames = channels[0]!.length;
  const samples = new Float32Array(frames * channels.length);
  for (const [n, channel] of channels.entries())
    for (let at = 0; at < frames; at++) samples[at * channels.length + n] = channel[at]!;
  for (let at = 0; at < samples.length; at += 7_000) meter.take(samples.subarray(at, at + 7_000));
  return meter.finish();
}

const [left, right] = [tone(6_000), tone(17_000)];

test.each<[string, number]>([
  ["different from the start", 0],
  ["identical for a second and a third of a step, then different", RATE + 1_600],
  ["identical, then different in the last sample", 2 * RATE - 1],
  ["identical", 2 * RATE],
])("channels that are %s", (_, from) => {
  const other = left.slice();
  other.set(right.subarray(from), from);
  const [stereo, first, second] = [measure(left, other), measure(left), measure(other)];
  expect(stereo.energies).toHaveLength(20);
  for (const [n, energy] of stereo.energies.entries()) {
    expect(energy).toBeCloseTo(first.energies[n]! + second.energies[n]!, 6);
    expect(stereo.peaks[n]).toBe(Math.max(first.peaks[n]!, second.peaks[n]!));
  }
});

test("a channel that is damaged alone does not change the other one", () => {
  const damaged = left.slice();
  damaged[RATE] = Number.NaN;
  const [stereo, whole] = [measure(left, damaged), measure(left)];
  for (const [n, energy] of stereo.energies.entries()) {
    expect(energy).toBeGreaterThan(0.99 * whole.energies[n]!);
    if (n < 10 || n > 12) expect(energy).toBeCloseTo(2 * whole.energies[n]!, 5);
  }
});
