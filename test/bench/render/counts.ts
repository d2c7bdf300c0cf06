/**
 * Counts the frames that a smart render encodes, by reason, and the packets that are decoded for them:
 * `bun test/bench/render/counts.ts FILE... [--segments 12]`, with segments per minute of the plan of `speed.ts`.
 */
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { placeSegments } from "../../../src/domain/render-plan";
import type { SpliceSegment } from "../../../src/domain/smart-plan";
import { openExtracted } from "../../../src/lib/assets";
import { selectFfmpeg } from "../../../src/media/ffmpeg";
import { createEntryRewriter, isRandomAccessPoint, parseNalUnits } from "../../../src/media/packets/bitstream";
import {
  findDecodeRange,
  getPacket,
  isRandomAccessPointAt,
  type PacketSource,
  readSourcePackets,
} from "../../../src/media/packets/source";
import { probeMedia } from "../../../src/media/probe";
import { sniffMedia } from "../../../src/media/probing/sniff";
import { openSmartSource, planRange } from "../../../src/media/smart/source";
import { randomPlan } from "./media";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { segments: { type: "string", default: "12" } },
});
const ffmpeg = await selectFfmpeg({ forced: null, bundled: openExtracted(null).ffmpeg, path: process.env.PATH });
const LIMITS = { maxDurationSeconds: 86_400, maxSidePixels: 8_192, maxStreams: 64 };

/** `short copy`: frames of a copy that is too short to be worth a splice. */
type Reason = "head" | "tail" | "no entry" | "short copy";

/** Returns the reasons for which the frames of a kept range are encoded. */
function countReasons(segments: readonly SpliceSegment[], { order }: PacketSource): Partial<Record<Reason, number>> {
  const [only] = segments;
  if (segments.length === 1 && only!.kind === "encode") {
    const { from, to } = only!;
    const entry = order.randomAccessPoints.values().find((packet) => order.frames[packet]! >= from);
    const first = entry === undefined ? to : order.frames[entry]!;
    return first >= to ? { "no entry": to - from } : { head: first - from, "short copy": to - first };
  }
  const counts: Partial<Record<Reason, number>> = {};
  for (const [n, { kind, from, to }] of segments.entries())
    if (kind === "encode") counts[n === 0 ? "head" : "tail"] = to - from;
  return counts;
}

/** Counts the packets of intra pictures among the frames that are encoded, and those at which a copy could start. */
async function countEntries(source: PacketSource, encoded: readonly SpliceSegment[]) {
  const { frames, randomAccessPoints } = source.order;
  let intra = 0;
  let usable = 0;
  for (const [index, frame] of frames.entries()) {
    if (!encoded.some(({ from, to }) => frame > from && frame < to) || randomAccessPoints.includes(index)) continue;
    const { bitstream } = source;
    const units = parseNalUnits((await getPacket(source, index)).data, bitstream.parameterSets.lengthSize);
    if (!isRandomAccessPoint(bitstream, units) && createEntryRewriter(bitstream, units) === null) continue;
    intra++;
    if (await isRandomAccessPointAt(source, index)) usable++;
  }
  return { intra, usable };
}

for (const path of positionals) {
  const sniffed = (await sniffMedia(new Uint8Array(await Bun.file(path).slice(0, 65_536).arrayBuffer())))!;
  const probed = await probeMedia({ path, sniffed, ffmpeg, limits: LIMITS });
  const seconds = probed.info.duration / 1e6;
  const plan = randomPlan(seconds, Math.round((Number(values.segments) * seconds) / 60), 0.7, 5).map(([from, to]) => ({
    start: from * 1e6,
    end: to * 1e6,
    startFrame: null,
    endFrame: null,
  }));
  const timeline = placeSegments(probed, plan);
  using source = await openSmartSource(path, probed);
  const counts: Record<Reason, number> = { head: 0, tail: 0, "no entry": 0, "short copy": 0 };
  const encoded: SpliceSegment[] = [];
  for (const { frames } of timeline.segments) {
    const segments = await planRange(source, frames!);
    for (const [reason, count] of Object.entries(countReasons(segments, source))) counts[reason as Reason] += count;
    encoded.push(...segments.filter(({ kind }) => kind === "encode"));
  }
  const total = encoded.reduce((sum, { from, to }) => sum + to - from, 0);
  let decoded = 0;
  for (const segment of encoded) {
    const range = await findDecodeRange(source, segment);
    const isKept = (frame: number) => frame >= segment.from && frame < segment.to;
    for await (const _ of readSourcePackets(source, range, isKept)) decoded++;
  }
  const { intra, usable } = await countEntries(source, encoded);
  console.log(
    `${basename(path)}: ${timeline.frameCount} frames, ${source.order.randomAccessPoints.length} access points; ` +
      `encoded ${total} (${((total / timeline.frameCount) * 100).toFixed(0)}%): ` +
      `${Object.entries(counts)
        .map(([reason, count]) => `${reason} ${count}`)
        .join(", ")}; ` +
      `packets decoded ${decoded}; other intra pictures in encoded segments ${intra}, usable ${usable}`,
  );
}
