import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { parseAvcConfig } from "../../../src/media/packets/h264";
import { readFileConfig } from "../../../src/media/packets/video-track";
import { decodeCheckWindows, formatConcatList } from "../../../src/media/smart/splice-check";
import { fullOr } from "../../full-size";
import {
  audioInput,
  bundledFfmpeg,
  generate,
  h264,
  plainMp4,
  runTool,
  systemFfmpeg,
  videoInput,
} from "./generated-media";
import { readSamples, runFfprobe } from "./readback";
import { expectExactVideo, expectSync, probeFile, sourceNumbers, toSnappedSegments, withRender } from "./rendering";
import { SOURCES } from "./sources";

setDefaultTimeout(120_000);

/** Plans per source of the test with random plans. */
const RANDOM_PLANS = fullOr(20, 3);

type Event = { event: string; reason?: string; encoded_share?: number; encoded_frames?: number };

async function render(path: string, plan: readonly (readonly [number, number])[], ffmpeg = bundledFfmpeg) {
  const probed = await probeFile(path, ffmpeg);
  const segments = toSnappedSegments(probed, plan);
  const events: Event[] = [];
  const log = (event: string, fields: object) => events.push({ event, ...fields });
  return { path, probed, segments, ffmpeg, log, events };
}

const getFallbackReason = (events: readonly Event[]) =>
  events.find(({ event }) => event === "render.fell_back")?.reason;

/** Returns a checksum for each decoded frame. */
async function frameSums(path: string): Promise<string[]> {
  const text = await runTool([
    bundledFfmpeg.path,
    "-v",
    "error",
    "-i",
    path,
    "-map",
    "0:v",
    "-vsync",
    "0",
    "-f",
    "framemd5",
    "-",
  ]);
  const lines = new TextDecoder().decode(text).split("\n");
  return lines.filter((line) => line !== "" && !line.startsWith("#")).map((line) => line.split(",").at(-1)!.trim());
}

describe("a smart render", () => {
  const plan = [
    [0.5, 4.7],
    [5.2, 9.1],
    [9.9, 11.95],
  ] as const;

  test("copies packets bit by bit", async () => {
    for (const ffmpeg of [systemFfmpeg, bundledFfmpeg]) {
      const path = await plainMp4();
      const job = await render(path, plan, ffmpeg);
      const source = await frameSums(path);
      await withRender(job, async (rendered) => {
        expect(rendered.result.strategy).toBe("smart");
        const expectedSums = job.segments.flatMap(({ startFrame, endFrame }) => source.slice(startFrame!, endFrame!));
        const shown = await frameSums(rendered.path);
        expect(shown).toHaveLength(expectedSums.length);
        const same = shown.filter((sum, n) => sum === expectedSums[n]).length;
        const { encoded_frames: encoded } = job.events.find(({ event }) => event === "render.segments_encoded")!;
        expect(same).toBeGreaterThanOrEqual(expectedSums.length - encoded!);
        expect(encoded! / expectedSums.length).toBeLessThan(0.45);
      });
    }
  });

  test.each([
    ["with B-pyramids", ["-bf", "3"], "open-gop=1"],
    ["without CABAC, in slices", ["-bf", "3"], "open-gop=1:cabac=0:slices=3"],
    ["with several references", ["-preset", "medium", "-bf", "5"], "open-gop=1:ref=4"],
    ["without B-frames as references", ["-bf", "3"], "open-gop=1:b-pyramid=none"],
  ])("copies open GOPs bit by bit %s", async (_, options, parameters) => {
    const name = `open-${[...options, parameters].join("-").replaceAll(/[^a-z0-9]+/g, "-")}.mp4`;
    const recipe = [...videoInput("25", 12), ...audioInput(48_000, 1, 12), ...h264(50, ...options)];
    const path = await generate(name, ...recipe, "-x264-params", parameters, "-c:a", "aac");
    const source = await frameSums(path);
    for (const ffmpeg of [systemFfmpeg, bundledFfmpeg]) {
      const job = await render(path, plan, ffmpeg);
      await withRender(job, async (rendered) => {
        expect(rendered.result).toMatchObject({ strategy: "smart", reasons: [] });
        await expectExactVideo({ ...rendered, segments: job.segments }, await sourceNumbers(path, 0));
        const expectedSums = job.segments.flatMap(({ startFrame, endFrame }) => source.slice(startFrame!, endFrame!));
        const shown = await frameSums(rendered.path);
        const same = shown.filter((sum, n) => sum === expectedSums[n]).length;
        const { encoded_frames: encoded } = job.events.find(({ event }) => event === "render.segments_encoded")!;
        expect(same).toBeGreaterThanOrEqual(expectedSums.length - encoded!);
        expect(encoded! / expectedSums.length).toBeLessThan(0.45);
      });
    }
  });

  test("of a whole source encodes nothing", async () => {
    const path = await plainMp4();
    const job = await render(path, []);
    await withRender({ ...job, segments: null }, async (rendered) => {
      expect(rendered.result.strategy).toBe("smart");
      expect(job.events[0]).toMatchObject({ event: "render.segments_encoded", encoded_frames: 0 });
      expect(await frameSums(rendered.path)).toEqual(await frameSums(path));
    });
  });

  test("keeps rotation, pixel aspect ratio and color tags", async () => {
    const path = await generate(
      "shaped.mp4",
      ...[...videoInput("25", 6), ...audioInput(48_000, 1, 6), "-vf", "setsar=4/3", ...h264(50), "-c:a", "aac"],
      ...["-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709", "-color_range", "tv"],
    );
    const rotated = await generate("shaped-turned.mp4", "-i", path, "-c", "copy", "-metadata:s:v:0", "rotate=90");
    for (const source of [path, rotated]) {
      const job = await render(source, [
        [0.5, 3.1],
        [3.5, 5.9],
      ]);
      await withRender(job, async (rendered) => {
        expect(rendered.result.strategy).toBe("smart");
        const { video } = (await probeFile(rendered.path)).info;
        const { width, height, rotation, pixelAspect, color } = job.probed.info.video!;
        expect(video).toMatchObject({ width, height, rotation, pixelAspect, color });
      });
    }
  });

  test.each(["baseline", "main", "high"])("keeps the profile %s", async (profile) => {
    const recipe = [...videoInput("30", 8), ...audioInput(48_000, 2, 8), ...h264(60, "-profile:v", profile)];
    const path = await generate(`${profile}.mp4`, ...recipe, ...(profile === "baseline" ? ["-bf", "0"] : []));
    for (const ffmpeg of [bundledFfmpeg, systemFfmpeg]) {
      const job = await render(
        path,
        [
          [0.5, 3.3],
          [4.1, 7.2],
        ],
        ffmpeg,
      );
      await withRender(job, async (rendered) => {
        expect(rendered.result.strategy).toBe("smart");
        const [before, after] = await Promise.all(
          [path, rendered.path].map(async (file) => parseAvcConfig((await readFileConfig(file)).description)),
        );
        expect(after!.sps).toHaveLength(2);
        for (const set of after!.sps) expect(set[1]).toBe(before!.profile);
      });
    }
  });

  test("is exact on many plans", async () => {
    let state = 11;
    const random = () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state / 2_147_483_648;
    };
    for (const name of ["mp4, 30, B-frames", "mp4, variable rate"]) {
      const path = await SOURCES.find((source) => source.name === name)!.path();
      const numbers = await sourceNumbers(path, 0);
      const sourceSamples = await readSamples(path);
      for (let n = 0; n < RANDOM_PLANS; n++) {
        const edges = Array.from({ length: 8 }, () => random() * (name.includes("30") ? 11.9 : 7.9)).sort(
          (a, b) => a - b,
        );
        const job = await render(
          path,
          edges.flatMap((end, k) => (k % 2 === 1 ? [[edges[k - 1]!, end] as const] : [])),
          bundledFfmpeg,
        );
        const { segments } = job;
        const disjoint = segments.every((segment, k) => k === 0 || segment.startFrame! >= segments[k - 1]!.endFrame!);
        if (!disjoint) continue;
        await withRender(job, async (rendered) => {
          await expectExactVideo({ ...rendered, segments }, numbers);
          await expectSync({ ...rendered, segments }, sourceSamples);
        });
      }
    }
  });

  test.each([
    ["H.264", plainMp4],
    ["HEVC", () => SOURCES.find((source) => source.name === "hevc in mp4")!.path()],
  ])("of damaged %s is repeated in chunks, at the planned duration", async (_, source) => {
    const path = await source();
    const damaged = await Bun.file(path).bytes();
    const mdat = Buffer.from(damaged).indexOf("mdat");
    // NAL unit lengths that extend beyond their packets, in the middle of the packets to copy.
    for (let at = mdat + 20_000; at < damaged.length - 20_000; at += 8_000) damaged.fill(0x7f, at, at + 40);
    const damagedPath = `${path}.broken.mp4`;
    await Bun.write(damagedPath, damaged);
    const job = await render(damagedPath, plan);
    await withRender(job, async (rendered) => {
      expect(rendered.result.strategy).toBe("chunked");
      expect(getFallbackReason(job.events)).toBeDefined();
      const count = job.segments.reduce((sum, { startFrame, endFrame }) => sum + endFrame! - startFrame!, 0);
      expect(
        Number(
          await runFfprobe(
            rendered.path,
            "-select_streams",
            "v",
            "-count_packets",
            "-show_entries",
            "stream=nb_read_packets",
          ),
        ),
      ).toBe(count);
    });
  });
});

describe("the splice check", () => {
  test("passes a correct file, however much of it is decoded, and fails a damaged one", async () => {
    const path = await plainMp4();
    const times = Float64Array.from({ length: 361 }, (_, n) => n / 30);
    const windows = [0, 60, 120, 180, 240, 300].map((from) => ({ from, to: from + 60 }));
    const damagedPath = `${path}.unlike.mp4`;
    const damaged = await Bun.file(path).bytes();
    damaged.fill(0x55, Math.round(damaged.length / 3), Math.round(damaged.length / 2));
    await Bun.write(damagedPath, damaged);
    const listPath = `${path}.${process.pid}.windows.txt`;
    for (const ffmpeg of [systemFfmpeg, bundledFfmpeg]) {
      await Bun.write(listPath, formatConcatList(path, windows, times));
      expect(await decodeCheckWindows({ ffmpeg, listPath })).toBeNull();
      await Bun.write(listPath, formatConcatList(damagedPath, windows, times));
      expect(await decodeCheckWindows({ ffmpeg, listPath })).toMatch(/^(?!.*@ 0x)/);
    }
    await Bun.file(listPath).delete();
  });
});

describe("an encoder", () => {
  test("that fails is replaced with libx264, with a warning", async () => {
    const path = await plainMp4();
    const job = await render(path, [[1, 3]]);
    const { renderMedia } = await import("../../../src/media/render");
    await withRender({ ...job, output: { resolution: "144p" } }, async ({ folder }) => {
      const outputPath = `${folder}/again.mp4`;
      const output = {
        format: "mp4" as const,
        video: { width: 256, height: 144, frameRate: null, bitrate: null },
        audio: null,
        matchesSource: false,
      };
      const result = await renderMedia(
        {
          sourcePath: path,
          probed: job.probed,
          segments: job.segments,
          output,
          workDir: `${folder}/again`,
          outputPath,
        },
        { ffmpeg: bundledFfmpeg, chooseEncoder: async () => "h264_v4l2m2m", maxProcesses: 1, log: job.log },
      );
      expect(result.warnings.join()).toContain("libx264 was used");
      expect(
        job.events.find(({ event, reason }) => event === "render.fell_back" && reason !== undefined),
      ).toBeDefined();
    });
  });
});
