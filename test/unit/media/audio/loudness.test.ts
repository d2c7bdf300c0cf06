/** Loudness of rendered audio, measured by ffmpeg's meter in the encoded file. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createLimiter, Limiter } from "../../../../src/media/audio/limiter";
import { parseLoudness } from "../../../../src/media/audio/loudness";
import { renderAudio } from "../../../../src/media/leveled-audio";
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
const TARGETS = [-14, -23];

test.each(SOURCES)("%s has the target loudness, and no true peak above -1 dBTP", async (name, ...source) => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "source.wav");
  await Bun.write(path, await makeMedia(`${name}.wav`, "-f", "lavfi", ...source, "-t", String(fullOr(20, 6))));
  const tools = bundledFfmpeg;
  const probed = await probeFile(path, tools);
  for (const target of TARGETS) {
    const outputPath = join(folder.path, `out${target}.m4a`);
    // Half of it, from the middle.
    const [start, end] = [probed.info.duration * 0.25, probed.info.duration * 0.75].map(Math.round) as [number, number];
    const warnings = await renderAudio({
      ...{
        ffmpeg: tools,
        path,
        probed,
        format: "m4a",
        bitrate: 192_000,
        processing: { loudness: target },
        maxEncoders: 2,
      },
      ...{ outputPath, workDir: folder.path, segments: [{ start, end, outputStart: 0, outputEnd: end - start }] },
    });
    const { integrated, peak } = await measure(outputPath);
    expect({ warnings, isLoud: Math.abs(integrated! - target) <= 0.3, isBelow: peak! <= -1 }).toEqual({
      warnings: [],
      isLoud: true,
      isBelow: true,
    });
  }
});

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
  // 5 ms before the peak nothing has changed, within it the factor is what it needs, and a second later it is 1 again.
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
  const limiter = createLimiter(sink, { gain: 1, ceiling: 1 }, FORMAT);
  await limiter.write(new Uint8Array(80_000));
  await limiter.end();
  expect(calls.pop()).toBe(-1);
  expect(calls.reduce((sum, size) => sum + size, 0)).toBe(80_000);
});

test.each([
  ["I:  -70.0 LUFS\n Peak: -inf dBFS", { integrated: null, peak: null }],
  ["I: -23.4 LUFS\n Peak: 1.2 dBFS", { integrated: -23.4, peak: 1.2 }],
  ["M: -12 I: -9.0 LUFS\nSummary:\n I: -14.1 LUFS\n Peak: -0.9 dBFS", { integrated: -14.1, peak: -0.9 }],
])("the summary %j is parsed", (text, loudness) => {
  expect(parseLoudness(text)).toEqual(loudness);
});

test("a report without a summary is an error", () => {
  expect(() => parseLoudness("Conversion failed!")).toThrow("Loudness could not be measured.");
});

async function measure(path: string) {
  const filter = ["-map", "0:a", "-af", "ebur128=peak=true:framelog=verbose", "-f", "null", "-"];
  const child = Bun.spawn([BUNDLED_FFMPEG, "-nostats", "-i", path, ...filter], { stderr: "pipe" });
  return parseLoudness(await new Response(child.stderr).text());
}
