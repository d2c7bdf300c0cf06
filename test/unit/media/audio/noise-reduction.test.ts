/** Noise reduction and levels of speakers, measured in samples and in rendered files. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { fromSeconds } from "../../../../src/domain/time";
import { NoiseReducer, type NoiseReducerOptions } from "../../../../src/media/audio/noise-reduction";
import { loadRnnoise, RNNOISE_RATE } from "../../../../src/media/audio/rnnoise";
import { renderAudio } from "../../../../src/media/leveled-audio";
import { encodeCleanAudio } from "../../../../src/media/preview/clean-audio";
import { openVoice } from "../../../fixtures/flite";
import { BUNDLED_FFMPEG } from "../../../http/media";
import { temporaryFolder } from "../../../temporary-folder";
import { bundledFfmpeg } from "../generated-media";
import { probeFile } from "../rendering";
import { processSamples } from "./process-samples";

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

type Options = Partial<Omit<NoiseReducerOptions, "createDenoiser">>;

function reduce(samples: Float32Array, options: Options = {}): Float32Array {
  const { channels = 1 } = options;
  const reducer = new NoiseReducer({ mode: "strong", voice: null, ...options, channels, createDenoiser });
  return processSamples(reducer, samples, 9_001 * channels);
}

/** Middles of spans: beyond fades and reverberation of the model. */
const toMiddles = (spans: readonly [number, number][]): [number, number][] =>
  spans.map(([from, to]) => [from + 14_400, to - 14_400]);

test.each(["light", "strong"] as const)("%s: pauses lose 8 dB of noise or more, speech stays in its place", (mode) => {
  const { samples, pauses, speech } = createTalk();
  const output = reduce(samples, { mode });
  expect(output.length).toBe(samples.length);
  expect(getLevel(samples, toMiddles(pauses)) - getLevel(output, toMiddles(pauses))).toBeGreaterThan(8);
  expect(Math.abs(getLevel(samples, speech) - getLevel(output, speech))).toBeLessThan(2);
  const correlate = (shift: number) => samples.reduce((sum, sample, n) => sum + sample * (output[n + shift] ?? 0), 0);
  const shifts = [-480, -48, -2, 0, 2, 48, 480];
  expect(shifts.toSorted((a, b) => correlate(b) - correlate(a))[0]).toBe(0);
});

/** A talk, six seconds of drums, four in a second, and the talk again, with the spans of its speech. */
function createShow(noiseLevel = 0) {
  const { samples, speech } = createTalk();
  const music = createNoise(6 * RNNOISE_RATE).map(
    (sample, n) => sample * (noiseLevel + 0.4 * Math.exp(-(n % 12_000) / 1_500)),
  );
  const end = samples.length + music.length;
  const spans = [0, end].flatMap((shift) =>
    speech.map(([from, to]) => ({ start: toTicks(from + shift), end: toTicks(to + shift) })),
  );
  const input = new Float32Array([...samples, ...music, ...samples]);
  return { input, end: samples.length, spans, duration: toTicks(input.length) };
}

const toTicks = (sample: number): number => fromSeconds(sample / RNNOISE_RATE);

test.each([
  ["as the model finds them", false],
  ["of the speech analysis", true],
])("where no voice is for three seconds, the original plays, and fades over 200 ms: spans %s", (_, isAnalyzed) => {
  const { input, end, spans: speech, duration } = createShow();
  const output = reduce(input, { voice: isAnalyzed ? { duration, speech } : null });
  const from = end + RNNOISE_RATE;
  const to = end + 5 * RNNOISE_RATE;
  expect(input.subarray(from, to).every((sample, n) => sample === output[from + n])).toBe(true);
  // In the pause before the music, noise is reduced for half a second after the last word.
  const getChange = (span: [number, number]) => getLevel(output, [span]) - getLevel(input, [span]);
  expect(getChange([end - 36_000, end - 26_400])).toBeLessThan(-8);
  expect(getChange([end - 4_800, end])).toBeCloseTo(0, 1);
});

test("the speech analysis decides, whatever the model takes for a voice", () => {
  const { input, spans, duration } = createShow();
  const isOriginal = (output: Float32Array) => output.every((sample, n) => sample === input[n]);
  // A song is sung, and a whisper is a voice.
  expect(isOriginal(reduce(input, { voice: { duration, speech: [] } }))).toBe(true);
  const speech = [{ start: spans[0]!.start, end: duration }];
  const output = reduce(input, { voice: { duration, speech } });
  const [start, end] = [spans[2]!.end, spans[3]!.start].map((time) => (time / 1e6) * RNNOISE_RATE) as [number, number];
  const middle: [number, number] = [start + 2 * RNNOISE_RATE, end - 2 * RNNOISE_RATE];
  expect(getLevel(output, [middle])).toBeLessThan(getLevel(input, [middle]) - 3);
});

test("the analysis finds speech that the model takes for noise, such as a whisper, and more of it is kept", () => {
  const whisper = createNoise(6 * RNNOISE_RATE).map((sample) => 0.05 * sample);
  const voice = {
    duration: toTicks(whisper.length),
    speech: [
      { start: 1e6, end: 2e6 },
      { start: 4e6, end: 5e6 },
    ],
  };
  const output = reduce(whisper, { mode: "light", voice });
  const toLevel = (from: number, to: number) => getLevel(output, [[from * RNNOISE_RATE, to * RNNOISE_RATE]]);
  expect(toLevel(4.1, 4.9)).toBeGreaterThan(toLevel(5.3, 5.9) + 6);
});

test("clean audio of any part is what the render has there, music included", async () => {
  await using folder = await temporaryFolder();
  // The model needs noise before a part as it has in the render.
  const { input, spans: speech, duration } = createShow(0.08);
  const [path, partPath, outputPath] = ["source.wav", "part.aac", "out.m4a"].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  await encode(input, path);
  const probed = await probeFile(path, bundledFfmpeg);
  const voice = { duration, speech };
  const segments = [{ start: 0, end: duration, outputStart: 0, outputEnd: duration }];
  await renderAudio({
    ...{ ffmpeg: bundledFfmpeg, path, probed, format: "m4a", bitrate: 192_000, maxEncoders: 2, segments, voice },
    ...{ outputPath, workDir: folder.path, processing: { noiseReduction: "strong" } },
  });
  // The preview's bitrate is too low for noise at high frequencies.
  const rendered = await decode(outputPath, "-af", "lowpass=2000,lowpass=2000");
  // The drums last from 9.5 to 15.5 s.
  for (const [from, to] of [
    [7, 10],
    [11, 13],
    [14, 18],
  ] as const) {
    const part = { ffmpeg: bundledFfmpeg, path, info: probed.info, mode: "strong" as const, voice, from, to };
    await Bun.write(partPath, await encodeCleanAudio(part));
    // The encoder puts a packet before the first sample.
    const heard = (await decode(partPath, "-af", "lowpass=2000,lowpass=2000")).subarray(1_024);
    const differences = Array.from({ length: Math.floor((to - from) * 10) - 1 }, (_, n) => {
      const span: [number, number] = [n * 4_800, (n + 1) * 4_800];
      const inRender = span.map((at) => at + from * RNNOISE_RATE) as [number, number];
      const level = getLevel(rendered, [inRender]);
      return level < -50 ? 0 : Math.abs(getLevel(heard, [span]) - level);
    });
    expect(Math.max(...differences)).toBeLessThan(1);
  }
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
  const dual = reduce(spread([1, 1]), { channels: 2 });
  const isEqual = (a: Float32Array, b: Float32Array) =>
    a.length === b.length && a.every((sample, n) => sample === b[n]);
  expect([isEqual(pick(dual, 0, 2), mono), isEqual(pick(dual, 1, 2), mono)]).toEqual([true, true]);
  const surround = spread([1, 0.5, 0, 0.25, 0, 0]);
  const output = reduce(surround, { channels: 6 });
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

async function decode(path: string, ...filter: string[]): Promise<Float32Array> {
  const output = [...filter, "-f", "f32le", "-ar", String(RNNOISE_RATE), "-ac", "1", "pipe:1"];
  const child = Bun.spawn([BUNDLED_FFMPEG, "-v", "error", "-i", path, ...output], { stdout: "pipe" });
  return new Float32Array(await new Response(child.stdout).arrayBuffer());
}
