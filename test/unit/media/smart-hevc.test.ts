/** Smart renders of HEVC: x265 segments between copied packets, exact for every kind of GOP start. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { aac, audioInput, bundledFfmpeg, generate, runTool, systemFfmpeg, videoInput } from "./generated-media";
import { readSamples, runFfprobe } from "./readback";
import { expectExactVideo, expectSync, probeFile, sourceNumbers, toSnappedSegments, withRender } from "./rendering";

setDefaultTimeout(60_000);

const PLAN = [
  [0.5, 4.7],
  [5.2, 9.1],
  [9.9, 11.95],
] as const;

const x265 = (name: string, parameters: string, ...more: string[]) =>
  generate(
    name,
    ...[...videoInput("25", 12), ...audioInput(48_000, 2, 12), "-c:v", "libx265", "-preset", "ultrafast"],
    ...["-x265-params", `log-level=error:${parameters}`, "-tag:v", "hvc1", ...aac, ...more],
  );

const KINDS: [string, () => Promise<string>][] = [
  ["closed groups", () => x265("hevc-closed.mp4", "keyint=50:open-gop=0")],
  [
    "open groups, with pictures that lean on the group before",
    () => x265("hevc-open.mp4", "keyint=50:min-keyint=50:bframes=4"),
  ],
  [
    "pictures before the first one of a group that need nothing else",
    () => x265("hevc-radl.mp4", "keyint=50:open-gop=0:radl=2"),
  ],
  ["no B-frames", () => x265("hevc-flat.mp4", "keyint=25:bframes=0")],
  ["several slices a picture", () => x265("hevc-slices-small.mp4", "keyint=50:slices=4", "-s", "480x272")],
];

/** Other containers with the stream of the first kind: with one ffmpeg, or both with `OFFCUT_FULL=1`. */
const CONTAINERS: [string, () => Promise<string>][] = [
  ["QuickTime", () => x265("hevc.mov", "keyint=50:open-gop=0")],
  ["Matroska", () => x265("hevc-closed.mkv", "keyint=50:open-gop=0")],
];
const BOTH = [systemFfmpeg, bundledFfmpeg];
const CONTAINER_FFMPEGS = process.env.OFFCUT_FULL === "1" ? BOTH : [systemFfmpeg];

const decoded = async (path: string): Promise<string[]> => {
  const FRAME_MD5 = ["-map", "0:v", "-vsync", "0", "-f", "framemd5", "-"];
  const text = new TextDecoder().decode(await runTool([bundledFfmpeg.path, "-v", "error", "-i", path, ...FRAME_MD5]));
  return text
    .split("\n")
    .flatMap((line) => (line === "" || line.startsWith("#") ? [] : [line.split(",").at(-1)!.trim()]));
};

/** Returns the decoder's messages for a whole file. */
async function readDecoderMessages(path: string): Promise<string> {
  const child = Bun.spawn([systemFfmpeg.path, "-v", "warning", "-i", path, "-map", "0:v", "-f", "null", "-"], {
    stdout: "ignore",
    stderr: "pipe",
  });
  return await new Response(child.stderr).text();
}

describe("HEVC is copied, and encoded only around splices", () => {
  for (const [kind, make, ffmpegs] of [
    ...KINDS.map((one) => [...one, BOTH] as const),
    ...CONTAINERS.map((one) => [...one, CONTAINER_FFMPEGS] as const),
  ])
    test(kind, async () => {
      const path = await make();
      const numbers = await sourceNumbers(path, 0);
      const sourceSamples = await readSamples(path);
      const source = await decoded(path);
      for (const ffmpeg of ffmpegs) {
        const probed = await probeFile(path, ffmpeg);
        const segments = toSnappedSegments(probed, PLAN);
        await withRender({ path, probed, segments, ffmpeg }, async (rendered) => {
          const { strategy, encodedShare, reasons } = rendered.result;
          expect({ strategy, reasons }).toEqual({ strategy: "smart", reasons: [] });
          expect(encodedShare!).toBeLessThan(0.4);
          await expectExactVideo({ ...rendered, segments }, numbers);
          await expectSync({ ...rendered, segments }, sourceSamples);
          const expectedSums = segments.flatMap(({ startFrame, endFrame }) => source.slice(startFrame!, endFrame!));
          const shown = await decoded(rendered.path);
          const same = shown.filter((sum, n) => sum === expectedSums[n]).length;
          expect(same).toBeGreaterThanOrEqual(expectedSums.length * (1 - encodedShare!) - 0.5);
          expect(await readDecoderMessages(rendered.path)).toBe("");
          expect(
            await runFfprobe(
              rendered.path,
              "-select_streams",
              "v",
              "-show_entries",
              "stream=codec_name,codec_tag_string",
            ),
          ).toContain("hevc,hvc1");
        });
      }
    });

  test("is encoded completely when no GOP starts within the plan: the codec does not depend on the splices", async () => {
    const path = await x265("hevc-one-group.mp4", "keyint=600:open-gop=0");
    const probed = await probeFile(path);
    const segments = toSnappedSegments(probed, [[1.2, 3.4]]);
    await withRender({ path, probed, segments }, async (rendered) => {
      expect(rendered.result).toMatchObject({ strategy: "smart", encodedShare: 1 });
      await expectExactVideo({ ...rendered, segments }, await sourceNumbers(path, 0));
    });
  });

  test("keeps rotation, pixel aspect ratio and color tags", async () => {
    const colors = ["-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709", "-color_range", "tv"];
    const path = await x265("hevc-shaped.mp4", "keyint=50:open-gop=0", "-vf", "setsar=4/3", ...colors);
    const rotated = await generate(
      "hevc-turned.mp4",
      "-i",
      path,
      "-c",
      "copy",
      "-tag:v",
      "hvc1",
      "-metadata:s:v:0",
      "rotate=90",
    );
    for (const file of [path, rotated]) {
      const probed = await probeFile(file);
      const segments = toSnappedSegments(probed, PLAN);
      await withRender({ path: file, probed, segments }, async (rendered) => {
        expect(rendered.result.strategy).toBe("smart");
        const { width, height, rotation, pixelAspect, color } = probed.info.video!;
        expect((await probeFile(rendered.path)).info.video).toMatchObject({
          width,
          height,
          rotation,
          pixelAspect,
          color,
        });
      });
    }
  });
});
