/** Loudness of rendered audio, measured by ffmpeg's meter in the encoded file. */
import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { measureSpans, readLoudness } from "../../../../src/domain/loudness";
import { createLeveler } from "../../../../src/media/audio/leveler";
import { Limiter } from "../../../../src/media/audio/limiter";
import { writeRecordingLoudness } from "../../../../src/media/audio/loudness";
import { processInto } from "../../../../src/media/audio/sink";
import { checkLoudness as listFileWarnings, renderAudio } from "../../../../src/media/leveled-audio";
import { measureByFfmpeg } from "../../../ebur128";
import { openVoice } from "../../../fixtures/flite";
import { fullOr } from "../../../full-size";
import { BUNDLED_FFMPEG, makeMedia } from "../../../http/media";
import { temporaryFolder } from "../../../temporary-folder";
import { bundledFfmpeg } from "../generated-media";
import { probeFile } from "../rendering";

/** Harmonics and noise in the rhythm of speech, with a click that is much louder than the rest. */
const SPEECH =
  "aevalsrc='(0.2*sin(2*PI*140*t)+0.1*sin(2*PI*420*t)+0.05*random(0))*if(lt(mod(t,0.7),0.4),1,0.02)+0.7*sin(2*PI*900*t)*lt(mod(t,2.1),0.003)':s=48000";
const SOURCES: [name: string, ...source: string[]][] = [
  ["speech", "-i", SPEECH],
  ["stereo", "-i", `${SPEECH},pan=stereo|c0=c0|c1=0.6*c0`],
  ["music", "-i", "aevalsrc=0.1*sin(2*PI*220*t)+0.1*sin(2*PI*331*t)|0.1*sin(2*PI*277*t):s=44100"],
  ["clipped", "-i", "aevalsrc='clip(3*sin(2*PI*97*t)*(0.2+mod(t,1)),-1,1)':s=48000"],
  ["5.1", "-i", `${SPEECH},pan=5.1|FL=c0|FR=c0|FC=0.5*c0|LFE=c0|BL=0.3*c0|BR=0.3*c0`],
];
/** Each is rendered at both targets, from the same file. */
const LEVELED: [name: string, targets: number[], ...source: string[]][] = [
  ...SOURCES.map(([name, ...source]): [string, number[], ...string[]] => [name, [-14, -23], ...source]),
  ["speech with an offset", [-14], "-i", `${SPEECH},aeval=0.3*val(0)+0.5`],
];

test.each(LEVELED)("%s has the loudness %p, and no true peak above -1 dBTP", async (name, targets, ...source) => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "source.wav");
  await Bun.write(path, await makeMedia(`${name}.wav`, "-f", "lavfi", ...source, "-t", String(fullOr(20, 6))));
  for (const target of targets) await checkLoudness(path, target);
});

test("a voice becomes as loud as -9 LUFS, which a limiter alone does not reach", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "source.wav");
  const texts = ["Use two lamps, one on each side.", "Before you press record, read the whole script aloud."];
  const speak = openVoice("rms");
  const parts = texts.map((text) => speak(text, { stretch: 1, pitch: 1 }).samples);
  const samples = Float32Array.from(parts.flatMap((part) => [...part]));
  const input = ["-f", "f32le", "-ar", "16000", "-ac", "1", "-i", "pipe:0"];
  const child = Bun.spawn([BUNDLED_FFMPEG, "-v", "error", ...input, path], { stdin: new Uint8Array(samples.buffer) });
  expect(await child.exited).toBe(0);
  await checkLoudness(path, -9);
});

/** Renders the middle half of a recording. */
async function checkLoudness(path: string, target: number): Promise<void> {
  const probed = await probeFile(path, bundledFfmpeg);
  const outputPath = `${path}.m4a`;
  const [start, end] = [probed.info.duration * 0.25, probed.info.duration * 0.75].map(Math.round) as [number, number];
  const warnings = await renderAudio({
    ...{ ffmpeg: bundledFfmpeg, path, probed, format: "m4a", bitrate: 192_000, maxEncoders: 2 },
    ...{ outputPath, workDir: dirname(path), segments: [{ start, end, outputStart: 0, outputEnd: end - start }] },
    processing: { loudness: target },
  });
  const { integrated, peak } = await measure(outputPath);
  expect({ warnings, isLoud: Math.abs(integrated! - target) <= 0.3, isBelow: peak! <= -1 }).toEqual({
    warnings: [],
    isLoud: true,
    isBelow: true,
  });
}

test("silence stays as it is, with a warning", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "source.wav");
  await Bun.write(path, await makeMedia("silent.wav", "-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono", "-t", "2"));
  const tools = bundledFfmpeg;
  const probed = await probeFile(path, tools);
  const end = probed.info.duration;
  const outputPath = join(folder.path, "out.m4a");
  const warnings = await renderAudio({
    ...{ ffmpeg: tools, path, probed, format: "m4a", bitrate: 64_000, processing: { loudness: -14 }, maxEncoders: 1 },
    ...{ outputPath, workDir: folder.path, segments: [{ start: 0, end, outputStart: 0, outputEnd: end }] },
  });
  expect(warnings).toEqual(["The audio is silent, so its loudness was not changed."]);
  expect((await measure(outputPath)).integrated).toBeNull();
});

test("a file whose true peak is above -1 dBTP gets a warning", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "loud.wav");
  await Bun.write(
    path,
    await makeMedia("loud.wav", "-f", "lavfi", "-i", "aevalsrc=0.95*sin(2*PI*997*t):s=48000", "-t", "2"),
  );
  const options = { path, outputPath: path, workDir: folder.path, segments: [], maxEncoders: 1 };
  const probed = await probeFile(path, bundledFfmpeg);
  const check = (target: number) =>
    listFileWarnings({ ffmpeg: bundledFfmpeg, probed, format: "m4a", bitrate: 64_000, ...options }, target);
  const peak = "The true peak is -0.4 dBTP, higher than -1 dBTP: the encoder raises peaks.";
  expect(await check(-3.5)).toEqual([peak]);
  expect(await check(-9)).toEqual([expect.stringContaining("The loudness is -3.5 LUFS instead of -9"), peak]);
});

const FORMAT = { sampleRate: 48_000, channels: 2 };

test("without peaks, every sample is multiplied by the gain, in blocks of any size", () => {
  const samples = Float32Array.from({ length: 20_000 }, (_, n) => 0.4 * Math.sin(n / 7) * Math.sin(n / 1_000));
  const output = limit(samples, { gain: 2, ceiling: 0.9 }, [2, 7_000, 600, 12_398]);
  expect(output).toEqual(samples.map((sample) => sample * 2));
});

test("peaks are turned down before they come, the rest comes back slowly, and the number of samples stays", () => {
  const samples = Float32Array.from({ length: 96_000 }, (_, n) => {
    const frame = n >> 1;
    const isPeak = frame > 20_000 && frame < 20_400;
    return (isPeak ? 1 : 0.2) * Math.sin(frame / 11);
  });
  const output = limit(samples, { gain: 2, ceiling: 0.8 }, [9_000, 30_000, 57_000]);
  expect(output.length).toBe(samples.length);
  expect(output.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0)).toBeLessThan(0.800001);
  const factorAt = (frame: number) => output[2 * frame]! / (2 * samples[2 * frame]!);
  // The factor is unchanged 5 ms before the peak, sufficient within it, and 1 again a second later.
  expect(factorAt(19_700)).toBeCloseTo(1, 5);
  expect(factorAt(20_200)).toBeLessThan(0.41);
  expect(factorAt(22_000)).toBeGreaterThan(factorAt(20_500));
  expect(factorAt(47_990)).toBeCloseTo(1, 3);
});

function limit(samples: Float32Array, level: { gain: number; ceiling: number }, sizes: number[]): Float32Array {
  const limiter = new Limiter(level, FORMAT);
  const parts: Float32Array[] = [];
  let at = 0;
  for (const size of sizes) {
    parts.push(limiter.take(samples.subarray(at, at + size)));
    at += size;
  }
  parts.push(limiter.take(samples.subarray(at)), limiter.finish());
  return Float32Array.from(parts.flatMap((part) => [...part]));
}

test("the limiter ends its sink after the last sample", async () => {
  const calls: number[] = [];
  const sink = {
    write: async (bytes: Uint8Array) => void calls.push(bytes.length),
    end: async () => void calls.push(-1),
    abort: async (error: unknown) => error,
  };
  const limiter = processInto(sink, new Limiter({ gain: 1, ceiling: 1 }, FORMAT));
  await limiter.write(new Uint8Array(80_000));
  await limiter.end();
  expect(calls.pop()).toBe(-1);
  expect(calls.reduce((sum, size) => sum + size, 0)).toBe(80_000);
});

test("damaged samples do not reach those a second later, with the clipper", async () => {
  const render = async (damage: number[]) => {
    const samples = Float32Array.from({ length: 192_000 }, (_, n) => 0.4 * Math.sin((n >> 1) / 7));
    samples.set(damage, 50_000);
    const parts: Float32Array[] = [];
    const sink = {
      write: async (bytes: Uint8Array) => void parts.push(new Float32Array(bytes.slice().buffer)),
      end: async () => {},
      abort: async (error: unknown) => error,
    };
    const leveler = createLeveler(sink, { gain: 2, ceiling: 0.9, isClipped: true }, FORMAT);
    await leveler.write(new Uint8Array(samples.buffer));
    await leveler.end();
    return Float32Array.from(parts.flatMap((part) => [...part]));
  };
  const [damaged, whole] = [await render([Number.NaN, Number.POSITIVE_INFINITY, -3e38, Number.NaN]), await render([])];
  expect(damaged.every((sample) => Math.abs(sample) <= 0.901)).toBe(true);
  const difference = damaged.subarray(150_000).map((sample, n) => Math.abs(sample - whole[150_000 + n]!));
  expect([damaged.length, Math.max(...difference) < 0.001]).toEqual([whole.length, true]);
});

test("a peak in the first 5 ms of the output is limited, too", () => {
  // The reduction cannot start before it.
  const samples = Float32Array.from({ length: 48_000 }, (_, n) => {
    const frame = n >> 1;
    return (frame > 20 && frame < 60 ? 0.9 : 0.1) * Math.sin(frame / 9);
  });
  const output = limit(samples, { gain: 4, ceiling: 0.8 }, [100, 4_000]);
  expect(output.length).toBe(samples.length);
  expect(output.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0)).toBeLessThan(0.800001);
  expect(output[1_000]! / samples[1_000]!).toBeLessThan(4);
  expect(output.at(-1)! / samples.at(-1)!).toBeCloseTo(4, 3);
});

// The encoder makes a clipped tone 0.6 dB softer.
const UNCLIPPED = SOURCES.filter(([name]) => name !== "clipped");

test.each(UNCLIPPED)("%s: the loudness of any cut follows from the steps of the recording", async (name, ...source) => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "source.wav");
  await Bun.write(path, await makeMedia(`${name}.wav`, "-f", "lavfi", ...source, "-t", String(fullOr(20, 6))));
  const probed = await probeFile(path, bundledFfmpeg);
  const { info } = probed;
  const outputPath = join(folder.path, "loudness.steps");
  await writeRecordingLoudness({ ffmpeg: bundledFfmpeg, path, info, outputPath });
  const steps = readLoudness(await Bun.file(outputPath).arrayBuffer());
  const thirds = [0.1, 0.3, 0.42, 0.9].map((share) => Math.round(info.duration * share)) as [
    number,
    number,
    number,
    number,
  ];
  const cuts: [number, number][][] = [
    [[0, info.duration]],
    [thirds.slice(0, 2), thirds.slice(2)] as [number, number][],
  ];
  for (const cut of cuts) {
    let at = 0;
    const segments = cut.map(([start, end]) => {
      const outputStart = at;
      at += end - start;
      return { start, end, outputStart, outputEnd: at };
    });
    const cutPath = join(folder.path, `${cut.length}.m4a`);
    const options = { ffmpeg: bundledFfmpeg, path, probed, format: "m4a" as const, bitrate: 320_000, maxEncoders: 1 };
    await renderAudio({ ...options, outputPath: cutPath, workDir: folder.path, segments });
    const expected = await measure(cutPath);
    const measured = measureSpans(steps, segments);
    expect(Math.abs(measured.integrated! - expected.integrated!)).toBeLessThanOrEqual(0.3);
    // AAC changes peaks, too.
    expect(Math.abs(measured.peak! - expected.peak!)).toBeLessThanOrEqual(1);
  }
});

test("at a low sample rate, a true peak is at least that of ffmpeg's meter", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "source.wav");
  const source = ["-f", "lavfi", "-i", "anoisesrc=r=22050:a=0.5:seed=1", "-t", "4"];
  await Bun.write(path, await makeMedia("noise-22050.wav", ...source));
  const { info } = await probeFile(path, bundledFfmpeg);
  const outputPath = join(folder.path, "loudness.steps");
  await writeRecordingLoudness({ ffmpeg: bundledFfmpeg, path, info, outputPath });
  const { peak } = measureSpans(readLoudness(await Bun.file(outputPath).arrayBuffer()), [
    { start: 0, end: info.duration },
  ]);
  expect(peak!).toBeGreaterThan((await measure(path)).peak! - 0.15);
});

const measure = (path: string) => measureByFfmpeg(BUNDLED_FFMPEG, path);
