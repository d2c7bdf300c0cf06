import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { getFrameCount } from "../../../../src/domain/time";
import { writeExcerpt } from "../../../../src/media/packets/excerpt";
import { openPacketSource, readSourcePackets } from "../../../../src/media/packets/source";
import { countFrames } from "../../../../src/media/packets/video-track";
import { fullOr } from "../../../full-size";
import { type TemporaryFolder, temporaryFolder } from "../../../temporary-folder";
import { bundledFfmpeg, generate, h264, runTool, systemFfmpeg, videoInput } from "../generated-media";
import { probeFile } from "../rendering";

setDefaultTimeout(120_000);

/** Ranges of frames for each source. */
const RANGES = fullOr(60, 4);
const RATE = 25;
const FFMPEGS = [systemFfmpeg, bundledFfmpeg];

let folder: TemporaryFolder;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

/** Returns a checksum for each decoded frame by its time in frames. */
async function readSums(path: string, ffmpeg: string): Promise<Map<number, string>> {
  const options = ["-v", "error", "-copyts", "-i", path, "-map", "0:v", "-vsync", "0", "-enc_time_base", "1:12800"];
  const text = await runTool([ffmpeg, ...options, "-f", "framemd5", "-"]);
  const lines = new TextDecoder().decode(text).split("\n");
  const rows = lines.filter((line) => line !== "" && !line.startsWith("#")).map((line) => line.split(","));
  return new Map(rows.map((row) => [Math.round((Number(row[2]) * RATE) / 12_800), row.at(-1)!.trim()]));
}

/** `share`: maximum share of the packets, of those that the container marks as references. */
test.each<[string, string[], string, number]>([
  ["B-pyramids", ["-preset", "veryfast", "-bf", "3"], "scenecut=0", 0.9],
  ["B-pyramids and open GOPs", ["-preset", "veryfast", "-bf", "3"], "scenecut=0:open-gop=1", 0.9],
  ["deep pyramids, in slices", ["-preset", "veryfast", "-bf", "7"], "scenecut=0:slices=3", 0.9],
  ["several references and weights", ["-preset", "medium", "-bf", "3"], "ref=4:weightp=2:direct=temporal", 1],
  ["references that removals leave", ["-preset", "slow", "-bf", "5"], "ref=2:b-pyramid=strict", 1],
  ["intra pictures that are not entries", ["-preset", "veryfast", "-bf", "3"], "min-keyint=50:scenecut=90", 1],
  ["CAVLC", ["-preset", "veryfast", "-bf", "3"], "cabac=0", 1],
  ["P-frames only", ["-preset", "veryfast", "-bf", "0"], "ref=3", 1],
])("excerpts without unneeded pictures have the frames of the source: %s", async (name, options, parameters, share) => {
  const file = `needed-${name.replaceAll(/[^a-z0-9]+/gi, "-")}.mp4`;
  const recipe = [...videoInput(String(RATE), 8, "320x96"), ...h264(50, ...options), "-x264-params", parameters];
  const path = await generate(file, ...recipe);
  const probed = await probeFile(path);
  using source = await openPacketSource(path, probed);
  const expected = await readSums(path, systemFfmpeg.path);
  const count = getFrameCount(probed.frames!);
  expect([...expected.keys()]).toEqual([...Array(count).keys()]);
  let state = 7;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  let packets = 0;
  let references = 0;
  for (let n = 0; n < RANGES; n++) {
    const from = random(count - 40);
    const second = from + 1 + random(20);
    const frameRanges = [
      { from, to: from + 1 + random(second - from) },
      { from: second + 2, to: second + 3 + random(12) },
    ];
    const excerptPath = join(folder.path, `${n}.mp4`);
    const excerpt = { frameRanges, rotation: 0, path: excerptPath, maxLeadPackets: 1_000 } as const;
    const start = await writeExcerpt(source, excerpt);
    const offset = Math.round(((start - probed.info.startPts) * RATE) / 1e6);
    const found = await readSums(excerptPath, FFMPEGS[n % FFMPEGS.length]!.path);
    for (const { from: first, to } of frameRanges)
      for (let frame = first; frame < to; frame++)
        expect([frame, found.get(frame - offset)]).toEqual([frame, expected.get(frame)]);
    packets += await countFrames(excerptPath);
    const isKept = (frame: number) => frameRanges.some((range) => frame >= range.from && frame < range.to);
    const { randomAccessPoints, frames } = source.order;
    const starts = [...randomAccessPoints].filter((packet) => frames[packet]! <= from);
    const last = Math.max(...[...frames.keys()].filter((packet) => isKept(frames[packet]!)));
    for await (const _ of readSourcePackets(source, { from: starts.at(-1) ?? 0, to: last + 1 }, isKept)) references++;
  }
  expect(packets / references).toBeLessThanOrEqual(share);
  if (share === 1) expect(packets / references).toBeGreaterThan(0.6);
});
