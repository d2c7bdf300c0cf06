import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { EncodedPacketSink } from "mediabunny";
import type { ProbedMedia } from "../../../../src/domain/media";
import { getFrameCount } from "../../../../src/domain/time";
import { writeExcerpt } from "../../../../src/media/packets/excerpt";
import { openPacketSource, type PacketSource, SpliceError } from "../../../../src/media/packets/source";
import { iteratePackets, openVideoTrack } from "../../../../src/media/packets/video-track";
import { openPacketWindow } from "../../../../src/media/packets/window";
import { type TemporaryFolder, temporaryFolder } from "../../../temporary-folder";
import { generate, h264, videoInput } from "../generated-media";
import { probeFile } from "../rendering";

setDefaultTimeout(120_000);

let folder: TemporaryFolder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

type FrameRange = { from: number; to: number };

/** Returns the content of an excerpt: its start, and its packets in decode order. */
async function readExcerpt(source: PacketSource, frameRanges: readonly FrameRange[]): Promise<unknown[]> {
  const path = join(folder.path, `${Math.random()}.mp4`);
  const start = await writeExcerpt(source, { frameRanges, rotation: 0, path, maxLeadPackets: 1_000 });
  const found: unknown[] = [start];
  using file = await openVideoTrack(path);
  for await (const { timestamp, type, data } of iteratePackets(new EncodedPacketSink(file.track)))
    found.push([timestamp, type, Bun.hash(data)]);
  return found;
}

const SECONDS = 40;
const INPUT = videoInput("30", SECONDS, "320x96");
const FEW_KEYFRAMES = ["-c:v", "libx264", "-preset", "ultrafast", "-g", "100000", "-sc_threshold", "0"];

test.each<[string, () => Promise<string>]>([
  ["mp4 with B-frames", () => generate("window.mp4", ...INPUT, ...h264(60))],
  ["mp4 with short groups", () => generate("window-short.mp4", ...INPUT, ...h264(7))],
  [
    "mp4 with open groups",
    () => generate("window-open.mp4", ...INPUT, ...h264(60, "-x264-params", "open-gop=1:b-pyramid=normal")),
  ],
  ["mkv", async () => generate("window.mkv", "-i", await generate("window.mp4", ...INPUT, ...h264(60)), "-c", "copy")],
  [
    "mp4 that an edit list starts later",
    async () =>
      generate(
        "window-late.mp4",
        ...["-ss", "1.5", "-i", await generate("window.mp4", ...INPUT, ...h264(60)), "-c", "copy"],
      ),
  ],
  ["mp4 with one keyframe", () => generate("window-one.mp4", ...INPUT, ...FEW_KEYFRAMES)],
])("excerpts of %s are those of the whole table, or the window is refused", async (name, make) => {
  const path = await make();
  const probed = await probeFile(path);
  const count = getFrameCount(probed.frames!);
  const whole = await openPacketSource(path, probed);
  let refused = 0;
  const cut = fc.integer({ min: 0, max: count });
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(cut, { minLength: 2, maxLength: 8 }), async (cuts) => {
      const sorted = cuts.toSorted((a, b) => a - b);
      const ranges: FrameRange[] = [];
      for (let n = 0; n + 1 < sorted.length; n += 2) ranges.push({ from: sorted[n]!, to: sorted[n + 1]! });
      const window = await openPacketWindow(path, probed, ranges).catch((error) => error);
      if (window instanceof Error) {
        expect(window).toBeInstanceOf(SpliceError);
        refused++;
        return;
      }
      const [expected, found] = [
        await readExcerpt(whole, ranges).catch(String),
        await readExcerpt(window, ranges).catch(String),
      ];
      window[Symbol.dispose]();
      expect(found).toEqual(expected);
    }),
    { numRuns: 8 },
  );
  whole[Symbol.dispose]();
  // If key packets are not random access points, the whole table finds earlier ones.
  if (!/edit list|open groups/.test(name)) expect(refused).toBe(0);
});

test("reads only the packets near the frames", async () => {
  const path = await generate("window.mp4", ...INPUT, ...h264(60));
  const probed = await probeFile(path);
  const window = await openPacketWindow(path, probed, [
    { from: 600, to: 610 },
    { from: 1_000, to: 1_010 },
  ]);
  expect(window.timestamps.length).toBeLessThan(500);
  window[Symbol.dispose]();
  const other: ProbedMedia = { ...probed, info: { ...probed.info, startPts: probed.info.startPts + 10_000 } };
  await expect(openPacketWindow(path, other, [{ from: 600, to: 610 }])).rejects.toBeInstanceOf(SpliceError);
  await expect(openPacketWindow(path, probed, [{ from: 600, to: 5_000 }])).rejects.toBeInstanceOf(SpliceError);
  const abort = AbortSignal.abort(new Error("cancelled"));
  await expect(openPacketWindow(path, probed, [{ from: 600, to: 610 }], abort)).rejects.toThrow("cancelled");
});
