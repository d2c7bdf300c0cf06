import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { extractAnalysisAudio } from "../../../src/media/analysis-audio";
import { createFilmstrip, createPoster } from "../../../src/media/thumbnails";
import { createWaveform } from "../../../src/media/waveform";
import { allSamples } from "../../analysis-audio";
import { bundledFfmpeg, generate, plainMp4, systemFfmpeg } from "./generated-media";
import { readSamples, runFfprobe } from "./readback";
import { probeFile } from "./rendering";
import { SOURCES } from "./sources";

setDefaultTimeout(120_000);

const folder = await mkdtemp(join(tmpdir(), "offcut-extract-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function extracted(path: string, ffmpeg = bundledFfmpeg) {
  const probed = await probeFile(path, ffmpeg);
  const outputPath = join(folder, "speech.pcm");
  await extractAnalysisAudio({ ffmpeg, path, probed, outputPath });
  const words = await allSamples(outputPath);
  return { probed, words, path: outputPath };
}

describe("analysis audio", () => {
  for (const source of SOURCES.filter(({ name }) => /30, B|ts, 25|delayed|start_time|Opus|44.1/.test(name)))
    test(`${source.name}: on the source's clock, exactly as long as the source`, async () => {
      const path = await source.path();
      const { probed, words } = await extracted(path, source.name.includes("B-frames") ? systemFfmpeg : bundledFfmpeg);
      expect(words).toHaveLength(Math.round((probed.info.duration * 16) / 1000));
      const expectedSamples = await readSamples(path, probed.info.startPts / 1e6);
      for (let n = 0; n < expectedSamples.length; n++) {
        if (Math.abs(expectedSamples[n]!) < 0.15) continue;
        const at = n / 48_000;
        const firstLoud = words.findIndex((word, k) => k > (at - 0.03) * 16_000 && Math.abs(word) > 0.15 * 32_767);
        expect(Math.abs(firstLoud / 16_000 - at)).toBeLessThan(0.002);
        n += 24_000;
      }
    });

  test("throws no_speech without an audio track", async () => {
    const silent = await SOURCES.find(({ silent }) => silent)!.path();
    await expect(extracted(silent)).rejects.toMatchObject({ code: "no_speech" });
  });

  test("leaves no file when aborted", async () => {
    const path = await plainMp4();
    const probed = await probeFile(path);
    const abortController = new AbortController();
    const outputPath = join(folder, "aborted.pcm");
    const extraction = extractAnalysisAudio({
      ffmpeg: bundledFfmpeg,
      path,
      probed,
      outputPath,
      signal: abortController.signal,
      onProgress: () => abortController.abort(new Error("enough")),
    });
    await expect(extraction).rejects.toThrow("enough");
    await extraction.catch(() => {});
    expect(await Bun.file(outputPath).exists()).toBe(false);
  });

  test("a dead channel does not reduce loudness", async () => {
    const make = (name: string, pan: string) =>
      generate(name, "-f", "lavfi", "-i", `sine=f=300:r=16000:d=3,pan=${pan}`, "-c:a", "pcm_s16le");
    const level = async (path: string) => {
      const { words } = await extracted(path);
      return Math.sqrt(words.slice(16_000).reduce((sum, word) => sum + word * word, 0) / (words.length - 16_000));
    };
    const both = await level(await make("both.wav", "stereo|c0=c0|c1=c0"));
    for (const [name, pan] of [
      ["left.wav", "stereo|c0=c0|c1=0*c0"],
      ["right.wav", "stereo|c0=0*c0|c1=c0"],
      ["reversed.wav", "stereo|c0=c0|c1=-1*c0"],
    ] as const)
      expect(Math.abs(20 * Math.log10((await level(await make(name, pan))) / both))).toBeLessThan(0.5);
  });
});

describe("dashboard media", () => {
  test("waveform peaks are at the beeps", async () => {
    const { path } = await extracted(await plainMp4());
    const waveform = await createWaveform({ audio: { path }, outputPath: join(folder, "wave.json") });
    expect(await Bun.file(join(folder, "wave.json")).json()).toEqual(waveform);
    expect(waveform).toMatchObject({ duration: 12, peaks_per_second: 50 });
    expect(waveform.peaks).toHaveLength(600);
    for (let second = 0; second < 12; second++) {
      expect(waveform.peaks[second * 50]).toBeGreaterThan(90);
      expect(waveform.peaks[second * 50 + 25]).toBeLessThan(20);
    }
  });

  test("poster and filmstrip for any container and aspect ratio", async () => {
    for (const source of SOURCES.filter(({ name }) => /30, B|ts, 25|turned|VP9|avi, H/.test(name)))
      for (const ffmpeg of source.name.startsWith("ts") ? [systemFfmpeg, bundledFfmpeg] : [bundledFfmpeg]) {
        const path = await source.path();
        const probed = await probeFile(path, ffmpeg);
        const [poster, strip] = [join(folder, "poster.jpg"), join(folder, "strip.jpg")];
        await createPoster({ ffmpeg, path, probed, outputPath: poster });
        const { count, width, height } = await createFilmstrip({ ffmpeg, path, probed, outputPath: strip });
        const { video } = probed.info;
        const size = (file: string) => runFfprobe(file, "-show_entries", "stream=width,height");
        expect(await size(poster)).toBe(`${video!.width},${video!.height}`);
        expect(await size(strip)).toBe(`${width * count},${height}`);
        expect(count).toBeGreaterThan(10);
      }
  });
});
