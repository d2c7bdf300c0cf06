import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readLoudness } from "../../../src/domain/loudness";
import type { ProbedMedia } from "../../../src/domain/media";
import { TICKS_PER_SECOND } from "../../../src/domain/time";
import { extractAnalysisAudio } from "../../../src/media/analysis-audio";
import { writeRecordingLoudness } from "../../../src/media/audio/loudness";
import type { Ffmpeg } from "../../../src/media/ffmpeg";
import { createFilmstrip, createPoster } from "../../../src/media/thumbnails";
import { createPeaks } from "../../../src/media/waveform";
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

const MEASURED = {
  waveform: join(folder, "waveform.json"),
  peaks: join(folder, "waveform.bin"),
  loudness: join(folder, "loudness.steps"),
};
type WaveformJson = { duration: number; peaks_per_second: number; peaks: number[] };

/** Measures in the pass that extracts the audio. */
async function measured(path: string, ffmpeg: Ffmpeg, probed: ProbedMedia) {
  const outputPath = join(folder, "measured.pcm");
  for (const file of Object.values(MEASURED)) await rm(file, { force: true });
  await extractAnalysisAudio({ ffmpeg, path, probed, outputPath, measured: MEASURED });
  return {
    words: await allSamples(outputPath),
    waveform: (await Bun.file(MEASURED.waveform).json()) as WaveformJson,
    peaks: await Bun.file(MEASURED.peaks).bytes(),
    loudness: await Bun.file(MEASURED.loudness).bytes(),
  };
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

  const MEASURED_SOURCES = SOURCES.filter(({ name }) => /30, B|ts, 25|delayed|start_time|Opus|44.1|wmv/.test(name));
  test.each(MEASURED_SOURCES)("$name: measures in the same pass what separate passes do", async (source) => {
    for (const ffmpeg of [bundledFfmpeg, systemFfmpeg]) {
      const path = await source.path();
      const { probed, words, path: audio } = await extracted(path, ffmpeg);
      const found = await measured(path, ffmpeg, probed);
      expect(found.words).toEqual(words);
      const [peaks, loudness] = [join(folder, "peaks"), join(folder, "loudness")];
      await createPeaks({ audio: { path: audio }, outputPath: peaks });
      await writeRecordingLoudness({ ffmpeg, path, info: probed.info, outputPath: loudness });
      expect([...found.peaks.subarray(12)]).toEqual(found.waveform.peaks);
      expect(found.peaks).toEqual(await Bun.file(peaks).bytes());
      expect(found.loudness).toEqual(await Bun.file(loudness).bytes());
    }
  });

  test("audio behind the end of the source is not measured, and does not block the decoder", async () => {
    const path = await generate("behind-the-end.wav", "-f", "lavfi", "-i", "sine=r=48000:d=120", "-ac", "2");
    const probed = await probeFile(path);
    const duration = 3 * TICKS_PER_SECOND;
    const found = await measured(path, bundledFfmpeg, { ...probed, info: { ...probed.info, duration } });
    expect([found.words.length, found.waveform.peaks.length]).toEqual([48_000, 150]);
    expect(readLoudness(found.loudness.buffer as ArrayBuffer).energies).toHaveLength(30);
  });

  test("a damaged track is measured as far as it can be decoded", async () => {
    const whole = await Bun.file(await plainMp4()).bytes();
    const damaged = whole.slice();
    const mdat = Buffer.from(damaged).indexOf("mdat");
    for (let at = mdat + 20_000; at < damaged.length - 20_000; at += 8_000) damaged.fill(0x7f, at, at + 400);
    const path = join(folder, "damaged.mp4");
    await Bun.write(path, damaged);
    const { probed, words } = await extracted(path);
    const found = await measured(path, bundledFfmpeg, probed);
    expect(found.words).toEqual(words);
    expect(Math.abs(readLoudness(found.loudness.buffer as ArrayBuffer).energies.length - 120)).toBeLessThan(2);
  });

  test("nothing is written when the audio cannot be decoded", async () => {
    const probed = await probeFile(await plainMp4());
    const path = join(folder, "no-media.mp4");
    await Bun.write(path, "no media");
    await expect(measured(path, bundledFfmpeg, probed)).rejects.toMatchObject({ code: "processing_failed" });
    for (const file of Object.values(MEASURED)) expect(await Bun.file(file).exists()).toBe(false);
  });

  test("nothing is written when the decoder fails before the loudness is complete", async () => {
    const probed = await probeFile(await generate("second.wav", "-f", "lavfi", "-i", "sine=r=48000:d=1", "-ac", "1"));
    // A second of analysis audio, and less than that at 48 kHz.
    const write = async (bytes: number, code: number) => {
      const path = join(folder, "decoder");
      const script = `head -c 64000 /dev/zero; head -c ${bytes} /dev/zero >&4; exit ${code}`;
      await Bun.write(path, `#!/bin/sh\n${script}\n`);
      await chmod(path, 0o755);
      return measured(path, { ...bundledFfmpeg, path }, probed);
    };
    await expect(write(100_000, 1)).rejects.toMatchObject({ code: "processing_failed" });
    for (const file of Object.values(MEASURED)) expect(await Bun.file(file).exists()).toBe(false);
    // Audio may be shorter than its source. A decoder that has written everything is not needed.
    for (const [bytes, code] of [
      [100_000, 0],
      [400_000, 1],
    ] as const)
      expect((await write(bytes, code)).loudness.length).toBeGreaterThan(12);
  });

  test("the decoder is not started when the file cannot be created", async () => {
    const path = await plainMp4();
    const probed = await probeFile(path);
    let isStarted = false;
    const ffmpeg = {
      ...bundledFfmpeg,
      get path() {
        isStarted = true;
        return bundledFfmpeg.path;
      },
    };
    const outputPath = join(folder, "missing", "speech.pcm");
    await expect(extractAnalysisAudio({ ffmpeg, path, probed, outputPath })).rejects.toMatchObject({ code: "ENOENT" });
    expect(isStarted).toBe(false);
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
    const path = await plainMp4();
    const { waveform } = await measured(path, bundledFfmpeg, await probeFile(path));
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
