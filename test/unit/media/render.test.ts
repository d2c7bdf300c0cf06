import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProbedMedia, RenderRequest } from "../../../src/domain/media";
import { type OutputRequest, resolveOutput } from "../../../src/domain/render-output";
import { writeAtomically } from "../../../src/media/atomic-output";
import { CHUNK_SIZES_FILE } from "../../../src/media/chunks/sizes-file";
import { createWorkLimits, runFfmpeg } from "../../../src/media/ffmpeg";
import { renderMedia } from "../../../src/media/render";
import { aac, audioInput, bundledFfmpeg, generate, h264, plainMp4, systemFfmpeg, videoInput } from "./generated-media";
import { readFrameNumbers, readFrameTimes, readSamples, runFfprobe } from "./readback";
import { MAX_CANCEL_MS, probeFile, toSnappedSegments, withRender } from "./rendering";

setDefaultTimeout(120_000);

const folder = await mkdtemp(join(tmpdir(), "offcut-renders-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const PLAN = [
  [0.5, 3.2],
  [4.1, 6.05],
  [8, 11.9],
] as const;

async function renderPlain(output: OutputRequest, ffmpeg = bundledFfmpeg) {
  const path = await plainMp4();
  const probed = await probeFile(path, ffmpeg);
  const segments = toSnappedSegments(probed, PLAN);
  const seconds = segments.reduce((sum, { start, end }) => sum + (end - start) / 1e6, 0);
  return { path, probed, segments, output, ffmpeg, seconds };
}

describe("a changed output is as requested", () => {
  test("resolution and bitrate", async () => {
    const render = await renderPlain({ resolution: "144p", video_bitrate: 150_000 }, bundledFfmpeg);
    await withRender(render, async ({ path }) => {
      const [codec, width, height, bitrate] = (
        await runFfprobe(path, "-select_streams", "v", "-show_entries", "stream=codec_name,width,height,bit_rate")
      ).split(",");
      expect([codec, width, height]).toEqual(["h264", "256", "144"]);
      expect(Number(bitrate) / 150_000).toBeWithin(0.6, 1.4);
    });
  });

  test.each([15, 24, 25, 48, 60])("%p frames per second, each the source frame of its time", async (frame_rate) => {
    const render = await renderPlain({ frame_rate }, frame_rate === 25 ? systemFfmpeg : bundledFfmpeg);
    await withRender(render, async ({ path }) => {
      const times = await readFrameTimes(path);
      expect(times).toHaveLength(Math.ceil(render.seconds * frame_rate - 1e-4));
      for (const [n, time] of times.entries()) expect(Math.abs(time - n / frame_rate)).toBeLessThan(1e-4);
      let out = 0;
      const numbers = await readFrameNumbers(path);
      for (const { start, end } of render.segments) {
        for (let n = Math.ceil(out * frame_rate); n < (out + (end - start) / 1e6) * frame_rate - 1e-4; n++) {
          const sourceTime = start / 1e6 + n / frame_rate - out;
          const shown = (numbers[n]! + 0.5) / 30;
          expect(Math.abs(shown - sourceTime - 0.5 / 30)).toBeLessThanOrEqual(0.5 / 30 + 0.5 / frame_rate + 1e-6);
        }
        out += (end - start) / 1e6;
      }
    });
  });

  test.each([
    ["mp3", "mp3", 64_000],
    ["m4a", "aac", 96_000],
  ])("%s", async (format, codec, audio_bitrate) => {
    const render = await renderPlain({ format, audio_bitrate });
    await withRender(render, async ({ path, result }) => {
      expect(result).toMatchObject({ strategy: "audio", warnings: [], sizeBytes: Bun.file(path).size });
      expect(await runFfprobe(path, "-show_entries", "stream=codec_name,sample_rate")).toBe(`${codec},48000`);
      expect(Math.abs((await readSamples(path)).length / 48_000 - render.seconds)).toBeLessThan(0.045);
    });
  });

  test("mov, and the whole source", async () => {
    const render = await renderPlain({ format: "mov", resolution: "160p" });
    await withRender({ ...render, segments: null }, async ({ path, result }) => {
      expect(result.duration).toBe(12_000_000);
      expect(await readFrameTimes(path)).toHaveLength(360);
      expect(await runFfprobe(path, "-show_entries", "format=format_name")).toContain("mov");
    });
  });

  test("low sample rates and many channels become what the format supports", async () => {
    const slow = await generate("slow.wav", "-f", "lavfi", "-i", "sine=r=11025:d=2", "-c:a", "pcm_s16le");
    const probed = await probeFile(slow);
    const readSampleRate = async (output: OutputRequest) =>
      await withRender({ path: slow, probed, segments: null, output }, ({ path }) =>
        runFfprobe(path, "-show_entries", "stream=sample_rate,channels"),
      );
    expect(await readSampleRate({ format: "mp3" })).toBe("44100,1");
    expect(await readSampleRate({ format: "m4a", audio_bitrate: 64_000 })).toBe("48000,1");
    const surround = await generate(
      "surround.mka",
      "-f",
      "lavfi",
      "-i",
      "anoisesrc=d=2:r=48000,pan=5.1|c0=c0|c1=c0|c2=c0|c3=c0|c4=c0|c5=c0",
      "-c:a",
      "flac",
    );
    await withRender({ path: surround, probed: await probeFile(surround), segments: null }, async ({ path }) => {
      expect(await runFfprobe(path, "-show_entries", "stream=channels")).toBe("6");
    });
  });

  test("interlaced, 10-bit and HDR video is converted, with a warning", async () => {
    const cases = [
      [
        "woven.mp4",
        [...videoInput("50", 1), "-vf", "tinterlace=4", "-flags", "+ilme+ildct", ...h264(25)],
        /deinterlaced/,
      ],
      ["deep.mkv", [...videoInput("25", 1), "-c:v", "libx264", "-pix_fmt", "yuv420p10le"], /10-bit to 8-bit/],
      [
        "hdr.mkv",
        [
          ...[...videoInput("25", 1), "-c:v", "libx264", "-pix_fmt", "yuv420p10le", "-color_primaries", "bt2020"],
          ...["-color_trc", "smpte2084", "-colorspace", "bt2020nc", "-color_range", "tv"],
        ],
        /HDR to SDR/,
      ],
    ] as const;
    for (const [name, recipe, warning] of cases)
      for (const ffmpeg of [systemFfmpeg, bundledFfmpeg]) {
        const path = await generate(name, ...recipe);
        await withRender({ path, probed: await probeFile(path, ffmpeg), segments: null, ffmpeg }, async (rendered) => {
          expect(rendered.result.warnings.join()).toMatch(warning);
          expect(await readFrameNumbers(rendered.path)).toHaveLength(25);
          const shape = await runFfprobe(rendered.path, "-show_entries", "stream=pix_fmt,color_transfer,field_order");
          expect(shape).toStartWith("yuv420p,");
          if (name === "hdr.mkv") expect(shape).toContain("bt709");
        });
      }
  });

  test("omitted tracks are listed in a warning", async () => {
    const path = await generate(
      "two-tracks.mkv",
      ...[
        ...videoInput("25", 2),
        ...audioInput(48_000, 2, 2),
        ...audioInput(48_000, 1, 2),
        "-map",
        "0",
        "-map",
        "1",
        "-map",
        "2",
      ],
      ...[...h264(25), "-metadata:s:a:1", "language=fra"],
    );
    await withRender({ path, probed: await probeFile(path), segments: null }, async ({ result }) => {
      expect(result.warnings).toEqual([expect.stringMatching(/Omitted: track 2 \((fra|fre)\)/)]);
    });
  });
});

async function requestFor(
  probed: ProbedMedia,
  path: string,
  name: string,
  output: OutputRequest = { resolution: "144p" },
) {
  const resolved = resolveOutput(probed, output);
  if (!resolved.ok) throw new Error("bad output");
  const request: RenderRequest = {
    sourcePath: path,
    probed,
    segments: null,
    output: resolved.output,
    workDir: join(folder, `${name}-work`),
    outputPath: join(folder, `${name}.mp4`),
  };
  return request;
}

const tools = { ffmpeg: bundledFfmpeg, chooseEncoder: async () => "libx264", maxProcesses: 2 };

describe("frames that cannot be decoded", () => {
  test("are replaced with their neighbors, at the planned duration, with a warning", async () => {
    const whole = await generate(
      "intra.mov",
      ...[
        ...videoInput("25", 6),
        ...audioInput(48_000, 2, 6),
        "-c:v",
        "prores",
        "-profile:v",
        "0",
        "-c:a",
        "pcm_s16le",
      ],
    );
    const damaged = Buffer.from(await Bun.file(whole).bytes());
    const lost = [40, 41, 42, 90];
    let at = -1;
    for (let frame = 0; frame <= 90; frame++) {
      at = damaged.indexOf("icpf", at + 1);
      if (lost.includes(frame)) damaged.write("lost", at);
    }
    const path = join(folder, "damaged.mov");
    await Bun.write(path, damaged);
    for (const ffmpeg of [systemFfmpeg, bundledFfmpeg]) {
      const probed = await probeFile(path, ffmpeg);
      const segments = toSnappedSegments(probed, [
        [1, 2.4],
        [3, 5],
      ]);
      await withRender({ path, probed, segments, ffmpeg }, async (rendered) => {
        expect(rendered.result.warnings.join()).toContain("could not be decoded");
        const expected = [...Array(85).keys()].map((n) => (n < 35 ? 25 + n : 40 + n));
        const shown = await readFrameNumbers(rendered.path);
        expect(shown).toHaveLength(expected.length);
        for (const [n, number] of expected.entries())
          expect(Math.abs(shown[n]! - number)).toBeLessThanOrEqual(lost.includes(number) ? 3 : 0);
      });
    }
  });
});

describe("a render in progress", () => {
  test("reports progress that only increases and ends at 1", async () => {
    const path = await plainMp4();
    const shares: number[] = [];
    await renderMedia(await requestFor(await probeFile(path), path, "progress"), {
      ...tools,
      onProgress: (share) => shares.push(share),
    });
    expect(shares.length).toBeGreaterThan(3);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.at(-1)).toBe(1);
  });

  test("ends soon without an output when cancelled, and a repeated call encodes only the missing parts", async () => {
    const path = await generate(
      "minute.mp4",
      ...videoInput("30", 60, "320x96"),
      ...audioInput(48_000, 2, 60),
      ...h264(60),
      ...aac,
    );
    const request = await requestFor(await probeFile(path), path, "cancel", { video_bitrate: 100_000 });
    const abortController = new AbortController();
    let stopped = 0;
    const first = renderMedia(request, {
      ...tools,
      signal: abortController.signal,
      onProgress: (share) => {
        if (share < 0.7 || stopped > 0) return;
        stopped = Date.now();
        abortController.abort(new Error("cancelled by the user"));
      },
    });
    await expect(first).rejects.toThrow("cancelled by the user");
    await first.catch(() => {});
    expect(Date.now() - stopped).toBeLessThan(MAX_CANCEL_MS);
    expect(await Bun.file(request.outputPath).exists()).toBe(false);
    expect((await readdir(request.workDir)).filter((name) => name.includes(".part"))).toEqual([]);
    const finished = (await readdir(request.workDir)).filter((name) => name.startsWith("chunk-")).length;
    expect(finished).toBeGreaterThan(0);
    const events: Record<string, unknown>[] = [];
    await renderMedia(request, { ...tools, log: (event, fields) => events.push({ event, ...fields }) });
    expect(events.find(({ event }) => event === "render.chunks_encoded")).toMatchObject({
      reused_chunks: finished,
      frames: 1_800,
    });
    expect(await readFrameNumbers(request.outputPath)).toEqual([...Array(1_800).keys()]);
  });

  test("a changed source or output reuses nothing", async () => {
    const path = await plainMp4();
    const probed = await probeFile(path);
    const request = await requestFor(probed, path, "change");
    const reused = async (output: OutputRequest) => {
      const events: { reused_chunks?: number }[] = [];
      const { output: resolved } = await requestFor(probed, path, "change", output);
      await renderMedia({ ...request, output: resolved }, { ...tools, log: (_, fields) => events.push(fields) });
      return events[0]!.reused_chunks;
    };
    expect(await reused({ resolution: "144p" })).toBe(0);
    expect(await reused({ resolution: "150p" })).toBe(0);
    expect(await reused({ resolution: "144p" })).toBeGreaterThan(0);
  });

  test("a missing source and an unknown encoder are processing_failed", async () => {
    const path = await plainMp4();
    const probed = await probeFile(path);
    const request = await requestFor(probed, path, "gone");
    await expect(renderMedia(request, { ...tools, chooseEncoder: async () => "h264_magic" })).rejects.toMatchObject({
      code: "processing_failed",
    });
    const copy = join(folder, "gone-source.mp4");
    await Bun.write(copy, "not a video any more");
    await expect(renderMedia({ ...request, sourcePath: copy }, tools)).rejects.toMatchObject({
      code: "processing_failed",
    });
  });
});

describe("a full disk", () => {
  test("fails a render with storage_full, without an output or temporary files", async () => {
    const path = await plainMp4();
    const probed = await probeFile(path);
    // Writes a few bytes as the encoder's output, then ffmpeg's message for a full disk. None writes a video's audio.
    const script = join(folder, "no-room");
    await Bun.write(
      script,
      `#!/bin/sh
for last in "$@"; do :; done
case "$last" in
  file:*) echo half > "$(echo "$last" | cut -c6-)"; echo "write error: No space left on device" >&2; exit 1;;
  *) exec ${bundledFfmpeg.path} "$@";;
esac
`,
    );
    await chmod(script, 0o755);
    for (const output of [{}, { resolution: "144p" }, { format: "mp3" }] as const) {
      const request = await requestFor(probed, path, "full", output);
      const render = renderMedia(request, { ...tools, ffmpeg: { ...bundledFfmpeg, path: script } });
      await expect(render).rejects.toMatchObject({ code: "storage_full" });
      expect(await Bun.file(request.outputPath).exists()).toBe(false);
      const isKept = (name: string) => name === CHUNK_SIZES_FILE || /^audio-[0-9a-f]+\.m4a$/.test(name);
      expect((await readdir(request.workDir)).filter((name) => !isKept(name))).toEqual([]);
    }
  });

  test("is storage_full when ffmpeg reports it", async () => {
    const wav = ["-f", "lavfi", "-i", "sine=d=60", "-c:a", "pcm_s16le", "-f", "wav", "-y", "/dev/full"];
    const run = (ffmpeg: typeof systemFfmpeg) =>
      runFfmpeg({ ffmpeg, arguments: ["-v", "error", ...wav], limits: createWorkLimits(30) });
    for (const ffmpeg of [systemFfmpeg, bundledFfmpeg])
      await expect(run(ffmpeg)).rejects.toMatchObject({ code: "storage_full" });
  });

  test("is storage_full when this process gets the error, without a temporary file", async () => {
    const path = join(folder, "never.txt");
    const full = Object.assign(new Error("no space"), { code: "ENOSPC" });
    const attempt = writeAtomically(path, async (part) => {
      await Bun.write(part, "half");
      throw full;
    });
    await expect(attempt).rejects.toMatchObject({ code: "storage_full" });
    expect((await readdir(folder)).filter((name) => name.startsWith("never"))).toEqual([]);
  });
});
