/**
 * The packets that a chunk needs, in a small file of their own, with the times that they have in the source: nothing is sought in the
 * source, and between two pieces nothing is decoded in vain.
 */
import type { Probed, VideoStream } from "../../domain/media";
import type { Chunk } from "../../domain/render-plan";
import { TICKS_PER_SECOND, type Ticks } from "../../domain/time";
import { NotSpliced, neededFor, openPacketSource, type PacketSource, packetsFrom } from "../packets/source";
import { describeStream } from "../packets/stream";
import { type TrackPacket, writeVideoTrack } from "../packets/video-track";
import { writeWhole } from "../work-files";

/** Decoding more than this before a piece is not worth the exactness: seeking finds other points to begin. */
const LEAD_PACKETS_MOST = 1_000;

/** Opens a source to feed chunks from; null when it is of a kind that is sought in. The caller closes it. Errors: the signal's reason. */
export async function openFeed(path: string, probed: Probed, signal?: AbortSignal): Promise<PacketSource | null> {
  try {
    return await openPacketSource(path, probed, signal);
  } catch {
    signal?.throwIfAborted();
    return null;
  }
}

/**
 * Writes the feed of a chunk. Returns the source's container time that is the file's 0. Errors: `NotSpliced` when the packets do not allow
 * it; those of reading and writing.
 */
export async function writeFeed(
  source: PacketSource,
  chunk: Chunk,
  rotation: VideoStream["rotation"],
  path: string,
): Promise<Ticks> {
  const ranges = await neededRanges(source, chunk);
  const { frames } = source.order;
  let first = Number.POSITIVE_INFINITY;
  for (const { from, to } of ranges)
    for (let place = from; place < to; place++)
      if (frames[place]! >= frames[from]!) first = Math.min(first, source.timestamps[place]!);
  const isKept = (frame: number) => chunk.pieces.some((piece) => frame >= piece.from && frame < piece.to);
  async function* packets(): AsyncGenerator<TrackPacket> {
    for (const range of ranges)
      for await (const { place, data } of packetsFrom(source, range, isKept)) {
        const timestamp = source.timestamps[place]! - first;
        // Only the last packet's duration is ever looked at.
        yield { data, type: place === range.from ? "key" : "delta", timestamp, duration: LAST_SECONDS };
      }
  }
  const config = { ...source.config, description: describeStream(source.stream) };
  await writeWhole(path, (part) =>
    writeVideoTrack({ path: part, config, rotation, constantRate: null, packets: packets() }),
  );
  return Math.round(first * TICKS_PER_SECOND);
}

const LAST_SECONDS = 0.04;

/** What decoding the pieces needs, as ranges of packets that do not touch. */
async function neededRanges(source: PacketSource, chunk: Chunk): Promise<{ from: number; to: number }[]> {
  const ranges: { from: number; to: number }[] = [];
  for (const piece of chunk.pieces) {
    const { from, to } = await neededFor(source, piece);
    if (to - from - (piece.to - piece.from) > LEAD_PACKETS_MOST) throw new NotSpliced("too far from a point to begin");
    const before = ranges.at(-1);
    if (before !== undefined && from <= before.to) before.to = Math.max(before.to, to);
    else ranges.push({ from, to });
  }
  return ranges;
}
