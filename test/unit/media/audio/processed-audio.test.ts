/** Loudness, noise reduction and levels together, on sources of any layout and rate, and when they are stopped. */
import { expect, test } from "bun:test";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type ProcessedAudioOptions, renderAudio } from "../../../../src/media/leveled-audio";
import { makeMedia } from "../../../http/media";
import { temporaryFolder } from "../../../temporary-folder";
import { bundledFfmpeg } from "../generated-media";
import { probeFile } from "../rendering";

const PROCESSING = { loudness: -20, noiseReduction: "light", levelSpeakers: true } as const;

async function createOptions(dir: string, recipe: string[]): Promise<ProcessedAudioOptions> {
  const path = join(dir, "source.wav");
  await Bun.write(path, await makeMedia("source.wav", ...recipe));
  const probed = await probeFile(path, bundledFfmpeg);
  const workDir = join(dir, "work");
  await mkdir(workDir);
  const { duration: end } = probed.info;
  return {
    ...{ ffmpeg: bundledFfmpeg, path, probed, format: "m4a", bitrate: 192_000, maxEncoders: 2, workDir },
    processing: PROCESSING,
    outputPath: join(dir, "out.m4a"),
    segments: [{ start: 0, end, outputStart: 0, outputEnd: end }],
  };
}

const voice = (rate: number, ...gains: number[]): string[] => [
  ...["-f", "lavfi", "-i"],
  `aevalsrc='${gains.map((gain) => `${gain}*(0.2*sin(2*PI*140*t)+0.1*random(0))*lt(mod(t,0.7),0.4)`).join("|")}':s=${rate}`,
];

test.each<[name: string, channels: number, recipe: string[]]>([
  ["mono at 8 kHz", 1, voice(8_000, 1)],
  ["stereo at 44.1 kHz", 2, voice(44_100, 1, 0.4)],
  ["stereo at 96 kHz", 2, voice(96_000, 0.4, 1)],
  ["5.1", 6, voice(48_000, 1, 0.5, 1, 0.2, 0.3, 0.3)],
  ["7.1", 8, voice(48_000, 1, 0.5, 1, 0.2, 0.3, 0.3, 0.1, 0.1)],
])("%s keeps its channels, its duration and has the loudness", async (_, channels, recipe) => {
  await using folder = await temporaryFolder();
  // A duration that is not a whole number of frames of the model or of the encoder.
  const options = await createOptions(folder.path, [...recipe, "-t", "3.3371"]);
  expect(options.probed.info.audio[0]!.channels).toBe(channels);
  expect(await renderAudio(options)).toEqual([]);
  const { info } = await probeFile(options.outputPath, bundledFfmpeg);
  expect(info.audio).toMatchObject([{ channels, sampleRate: 48_000 }]);
  expect(Math.abs(info.duration - 3_337_100)).toBeLessThan(25_000);
  expect(await readdir(options.workDir)).toEqual([]);
});

test("cancelled while it measures, it leaves no file; what a killed attempt has left does no harm", async () => {
  await using folder = await temporaryFolder();
  const options = await createOptions(folder.path, [...voice(48_000, 1, 0.5), "-t", "40"]);
  const controller = new AbortController();
  const shares: number[] = [];
  const running = renderAudio({
    ...options,
    signal: controller.signal,
    onProgress: (share) => {
      shares.push(share);
      if (share > 0.1) controller.abort(new Error("cancelled by the user"));
    },
  });
  await expect(running).rejects.toThrow("cancelled by the user");
  expect(Math.max(...shares)).toBeLessThan(0.3);
  expect(await readdir(folder.path)).toEqual(expect.arrayContaining(["source.wav", "work"]));
  expect([await readdir(options.workDir), (await readdir(folder.path)).length]).toEqual([[], 2]);

  await Bun.write(join(options.workDir, "reduced.f32"), new Uint8Array(1_000_001));
  const segments = [{ start: 0, end: 3e6, outputStart: 0, outputEnd: 3e6 }];
  expect(await renderAudio({ ...options, segments })).toEqual([]);
  expect(Math.abs((await probeFile(options.outputPath, bundledFfmpeg)).info.duration - 3e6)).toBeLessThan(25_000);
  expect(await readdir(options.workDir)).toEqual([]);
});
