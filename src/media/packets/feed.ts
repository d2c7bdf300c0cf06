/**
 * The packets that decoding some frames needs, in a small file of their own, with the times that they have in the source: nothing is sought
 * in the source, and between two pieces nothing is decoded in vain.
 */
import type { VideoStream } from "../../domain/media";
import { TICKS_PER_SECOND, type Ticks } from "../../domain/time";
import { writeWhole } from "../work-files";
import { NotSpliced, neededFor, type PacketSource, packetsBetween } from "./source";
import { describeStream } from "./stream";
import { type TrackPacket, writeVideoTrack } from "./video-track";

export type FeedOptions = {
  /** Frames `[from, to)` of the source, ascending. */
  pieces: readonly { from: number; to: number }[];
  rotation: VideoStream["rotation"];
  path: string;
  /** The most packets that may be decoded before a piece. */
  leadMost: number;
};

/**
 * Writes a feed. Pieces that lie in one group of pictures share what is decoded for them. Returns the source's container time that is the
 * file's 0. Errors: `NotSpliced` when the packets do not allow it; those of reading and writing.
 */
export async function writeFeed(source: PacketSource, options: FeedOptions): Promise<Ticks> {
  const { pieces, rotation, path } = options;
  const ranges = await neededRanges(source, options);
  const isKept = (frame: number) => pieces.some((piece) => frame >= piece.from && frame < piece.to);
  const { frames } = source.order;
  let first = Number.POSITIVE_INFINITY;
  for (const { from, to } of ranges)
    for (let place = from; place < to; place++)
      if (frames[place]! >= frames[from]! || isKept(frames[place]!)) first = Math.min(first, source.timestamps[place]!);
  async function* packets(): AsyncGenerator<TrackPacket> {
    for (const range of ranges)
      for await (const { place, data } of packetsBetween(source, range, isKept)) {
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
async function neededRanges(source: PacketSource, { pieces, leadMost }: FeedOptions) {
  const ranges: { from: number; to: number }[] = [];
  for (const piece of pieces) {
    const { from, to } = await neededFor(source, piece);
    if (to - from - (piece.to - piece.from) > leadMost) throw new NotSpliced("too far from a point to begin");
    const before = ranges.at(-1);
    if (before !== undefined && from <= before.to) before.to = Math.max(before.to, to);
    else ranges.push({ from, to });
  }
  return ranges;
}
