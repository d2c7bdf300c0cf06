/** Smart renders of HEVC: x265 segments between copied packets, exact for every kind of GOP start. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { fullOr } from "../../full-size";
import { aac, audioInput, bundledFfmpeg, generate, systemFfmpeg, videoInput } from "./generated-media";
import { readSamples, runFfprobe } from "./readback";
import { expectExactVideo, expectSync, probeFile, sourceNumbers, toSnappedSegments, withRender } from "./rendering";

setDefaultTimeout(120_000);

/** A GOP starts every two seconds: within each segment, once shortly after its start. */
const PLAN = [
  [1.2, 3.7],
  [3.9, 5.1],
  [5.6, 7.95],
] as const;

const x265 = (name: string, parameters: string, ...more: string[]) =>
  generate(
    name,
    ...[...videoInput("25", 8), ...audioInput(48_000, 2, 8), "-c:v", "libx265", "-preset", "ultrafast"],
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
];

/** Kinds that differ only in the copied packets: with one ffmpeg, or both with `OFFCUT_FULL=1`. */
const COPIED_KINDS: [string, () => Promise<string>][] = [
  ["several slices a picture", () => x265("hevc-slices.mp4", "keyint=50:ctu=16:slices=4")],
  ["QuickTime", () => x265("hevc.mov", "keyint=50:open-gop=0")],
  ["Matroska", () => x265("hevc-closed.mkv", "keyint=50:open-gop=0")],
];
const BOTH = [systemFfmpeg, bundledFfmpeg];
const COPIED_KIND_FFMPEGS = fullOr(BOTH, [systemFfmpeg]);

/** Returns a checksum for each decoded frame, and the decoder's messages. */
async function decode(path: string): Promise<{ sums: string[]; messages: string }> {
  const command = [systemFfmpeg.path, "-v", "warning", "-nostdin", "-i", path, "-map", "0:v", "-f", "framemd5", "-"];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [text, messages] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return { sums: lines.map((line) => line.split(",").at(-1)!.trim()), messages };
}

describe("HEVC is copied, and encoded only around splices", () => {
  for (const [kind, make, ffmpegs] of [
    ...KINDS.map((one, n) => [...one, fullOr(BOTH, [BOTH[n % BOTH.length]!])] as const),
    ...COPIED_KINDS.map((one) => [...one, COPIED_KIND_FFMPEGS] as const),
  ])
    test(kind, async () => {
      const path = await make();
      const numbers = await sourceNumbers(path, 0);
      const sourceSamples = await readSamples(path);
      const source = await decode(path);
      for (const ffmpeg of ffmpegs) {
        const probed = await probeFile(path, ffmpeg);
        const segments = toSnappedSegments(probed, PLAN);
        await withRender({ path, probed, segments, ffmpeg }, async (rendered) => {
          const { strategy, encodedShare, reasons } = rendered.result;
          expect({ strategy, reasons }).toEqual({ strategy: "smart", reasons: [] });
          expect(encodedShare!).toBeLessThan(0.4);
          await expectExactVideo({ ...rendered, segments }, numbers);
          await expectSync({ ...rendered, segments }, sourceSamples);
          const expectedSums = segments.flatMap(({ startFrame, endFrame }) =>
            source.sums.slice(startFrame!, endFrame!),
          );
          const shown = await decode(rendered.path);
          const same = shown.sums.filter((sum, n) => sum === expectedSums[n]).length;
          expect(same).toBeGreaterThanOrEqual(expectedSums.length * (1 - encodedShare!) - 0.5);
          expect(shown.sums).toHaveLength(expectedSums.length);
          expect(shown.messages).toBe("");
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
