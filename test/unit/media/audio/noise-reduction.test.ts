/** Noise reduction and levels of speakers, measured in samples and in rendered files. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { NoiseReducer } from "../../../../src/media/audio/noise-reduction";
import { loadRnnoise, RNNOISE_RATE } from "../../../../src/media/audio/rnnoise";
import { renderAudio } from "../../../../src/media/leveled-audio";
import { openVoice } from "../../../fixtures/flite";
import { BUNDLED_FFMPEG } from "../../../http/media";
import { temporaryFolder } from "../../../temporary-folder";
import { bundledFfmpeg } from "../generated-media";
import { probeFile } from "../rendering";

const createDenoiser = await loadRnnoise();

/** White noise between -1 and 1, always the same. */
function createNoise(length: number): Float32Array {
  let seed = 1;
  return Float32Array.from({ length }, () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 31 - 1;
  });
}

/** Three sentences at 48 kHz with a second of silence around each, and their noise 10 dB below. */
function createTalk(): { samples: Float32Array; pauses: [number, number][]; speech: [number, number][] } {
  const speak = openVoice("slt");
  const parts = [
    "Curtains and carpets absorb the echo.",
    "Use two lamps, one on each side.",
    "Read the whole script aloud.",
  ]
    .map((text) => speak(text, { stretch: 1, pitch: 1 }).samples)
    .map((samples) => Float32Array.from({ length: samples.length * 3 }, (_, n) => interpolate(samples, n / 3)));
  const samples = new Float32Array(parts.reduce((sum, part) => sum + part.length + RNNOISE_RATE, RNNOISE_RATE));
  const pauses: [number, number][] = [[0, RNNOISE_RATE]];
  const speech: [number, number][] = [];
  let at = RNNOISE_RATE;
  for (const part of parts) {
    samples.set(part, at);
    speech.push([at, at + part.length]);
    at += part.length;
    pauses.push([at, at + RNNOISE_RATE]);
    at += RNNOISE_RATE;
  }
  const noise = createNoise(samples.length);
  const gain = 10 ** ((getLevel(samples, speech) - 10 - getLevel(noise, [[0, noise.length]])) / 20);
  return { samples: samples.map((sample, n) => sample + gain * noise[n]!), pauses, speech };
}

function interpolate(samples: Float32Array, at: number): number {
  const n = Math.floor(at);
  return samples[n]! + (at - n) * ((samples[n + 1] ?? 0) - samples[n]!);
}

/** Returns the mean level of the spans in dB. */
function getLevel(samples: Float32Array, spans: readonly (readonly [number, number])[]): number {
  let [sum, count] = [0, 0];
  for (const [from, to] of spans) {
    for (const sample of samples.subarray(from, to)) sum += sample ** 2;
    count += to - from;
  }
  return 10 * Math.log10(sum / count + 1e-15);
}

function reduce(samples: Float32Array, channels = 1, mode: "light" | "strong" = "strong"): Float32Array {
  const reducer = new NoiseReducer({ mode, channels, createDenoiser });
  const parts: Float32Array[] = [];
  const size = 9_001 * channels;
  for (let at = 0; at < samples.length; at += size) parts.push(reducer.take(samples.subarray(at, at + size)));
  parts.push(reducer.finish());
  const output = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    output.set(part, at);
    at += part.length;
  }
  return output;
}

/** Middles of spans: beyond fades and reverberation of the model. */
const toMiddles = (spans: readonly [number, number][]): [number, number][] =>
  spans.map(([from, to]) => [from + 14_400, to - 14_400]);

test.each(["light", "strong"] as const)("%s: pauses lose 8 dB of noise or more, speech stays in its place", (mode) => {
  const { samples, pauses, speech } = createTalk();
  const output = reduce(samples, 1, mode);
  expect(output.length).toBe(samples.length);
  expect(getLevel(samples, toMiddles(pauses)) - getLevel(output, toMiddles(pauses))).toBeGreaterThan(8);
  expect(Math.abs(getLevel(samples, speech) - getLevel(output, speech))).toBeLessThan(2);
  const correlate = (shift: number) => samples.reduce((sum, sample, n) => sum + sample * (output[n + shift] ?? 0), 0);
  const shifts = [-480, -48, -2, 0, 2, 48, 480];
  expect(shifts.toSorted((a, b) => correlate(b) - correlate(a))[0]).toBe(0);
});

test("where no voice is for three seconds, the original plays, and fades over 200 ms", () => {
  const { samples } = createTalk();
  // Drums, four in a second.
  const noise = createNoise(6 * RNNOISE_RATE);
  const music = noise.map((sample, n) => 0.4 * sample * Math.exp(-(n % 12_000) / 1_500));
  const input = new Float32Array([...samples, ...music, ...samples]);
  const output = reduce(input);
  const from = samples.length + RNNOISE_RATE;
  const to = samples.length + music.length - RNNOISE_RATE;
  expect(input.subarray(from, to).every((sample, n) => sample === output[from + n])).toBe(true);
  // In the pause before the music, noise is reduced for half a second after the last word.
  const end = samples.length;
  const getChange = (span: [number, number]) => getLevel(output, [span]) - getLevel(input, [span]);
  expect(getChange([end - 36_000, end - 26_400])).toBeLessThan(-8);
  expect(getChange([end - 4_800, end])).toBeCloseTo(0, 1);
});

test("channels stay apart: a copy of the first is computed once, and the low frequencies of 5.1 are left", () => {
  const { samples } = createTalk();
  const short = samples.subarray(0, 2 * RNNOISE_RATE);
  const mono = reduce(short);
  const spread = (factors: readonly number[]) =>
    Float32Array.from({ length: short.length * factors.length }, (_, n) => {
      return short[Math.floor(n / factors.length)]! * factors[n % factors.length]!;
    });
  const pick = (output: Float32Array, channel: number, channels: number) =>
    Float32Array.from({ length: output.length / channels }, (_, n) => output[n * channels + channel]!);
  const dual = reduce(spread([1, 1]), 2);
  const isEqual = (a: Float32Array, b: Float32Array) =>
    a.length === b.length && a.every((sample, n) => sample === b[n]);
  expect([isEqual(pick(dual, 0, 2), mono), isEqual(pick(dual, 1, 2), mono)]).toEqual([true, true]);
  const surround = spread([1, 0.5, 0, 0.25, 0, 0]);
  const output = reduce(surround, 6);
  expect(isEqual(pick(output, 0, 6), mono)).toBe(true);
  expect(isEqual(pick(output, 3, 6), pick(surround, 3, 6))).toBe(true);
  expect(getLevel(pick(output, 2, 6), [[0, short.length]])).toBeLessThan(-100);
});

test.each([0, 1, 479, 480, 481])("%d samples come back, and broken ones as silence", (length) => {
  const broken = [Number.NaN, Number.POSITIVE_INFINITY, -3e38, 1];
  const output = reduce(Float32Array.from({ length }, (_, n) => broken[n % 4]!));
  expect(output.length).toBe(length);
  expect(output.every((sample) => Math.abs(sample) <= 8)).toBe(true);
});

test("a rendered cut has less noise, takes at one level, and the loudness", async () => {
  await using folder = await temporaryFolder();
  const { samples, speech } = createTalk();
  const soft = samples.map((sample, n) => (n >= speech[1]![0] && n < speech[1]![1] ? sample * 0.2 : sample) * 0.7);
  const source = join(folder.path, "source.wav");
  await encode(soft, source);
  const probed = await probeFile(source, bundledFfmpeg);
  const toTicks = (sample: number) => Math.round((sample / RNNOISE_RATE) * 1e6);
  let end = 0;
  const segments = speech.map(([from, to]) => {
    const outputStart = end;
    end += toTicks(to) - toTicks(from);
    return { start: toTicks(from), end: toTicks(to), outputStart, outputEnd: end };
  });
  const outputPath = join(folder.path, "out.m4a");
  const warnings = await renderAudio({
    ...{ ffmpeg: bundledFfmpeg, path: source, probed, format: "m4a", bitrate: 128_000, maxEncoders: 2, segments },
    ...{ outputPath, workDir: folder.path },
    processing: { loudness: -18, noiseReduction: "light", levelSpeakers: true },
  });
  expect(warnings).toEqual([]);
  const output = await decode(outputPath);
  const levels = segments.map(({ outputStart, outputEnd }) =>
    getLevel(output, [
      [(outputStart * RNNOISE_RATE) / 1e6, (outputEnd * RNNOISE_RATE) / 1e6].map(Math.round) as [number, number],
    ]),
  );
  // 14 dB before.
  expect(Math.max(...levels) - Math.min(...levels)).toBeLessThan(4);
});

async function encode(samples: Float32Array, path: string): Promise<void> {
  const input = ["-f", "f32le", "-ar", String(RNNOISE_RATE), "-ac", "1", "-i", "pipe:0"];
  const child = Bun.spawn([BUNDLED_FFMPEG, "-v", "error", ...input, path], {
    stdin: new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength),
  });
  expect(await child.exited).toBe(0);
}

async function decode(path: string): Promise<Float32Array> {
  const output = ["-f", "f32le", "-ar", String(RNNOISE_RATE), "-ac", "1", "pipe:1"];
  const child = Bun.spawn([BUNDLED_FFMPEG, "-v", "error", "-i", path, ...output], { stdout: "pipe" });
  return new Float32Array(await new Response(child.stdout).arrayBuffer());
}
