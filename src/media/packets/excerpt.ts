/**
 * Excerpts of a source: a small file with only the packets that are needed to decode some frames, and their original
 * times. It replaces seeking in the source, and decoding the part between two segments.
 */
import type { VideoStream } from "../../domain/media";
import { TICKS_PER_SECOND, type Ticks } from "../../domain/time";
import { writeAtomically } from "../atomic-output";
import { buildDecoderDescription } from "./bitstream";
import { findDecodeRange, type PacketSource, readSourcePackets, SpliceError } from "./source";
import { type VideoTrackPacket, writeVideoTrack } from "./video-track";

export type ExcerptOptions = {
  /** Frames `[from, to)` of the source, ascending. */
  frameRanges: readonly { from: number; to: number }[];
  rotation: VideoStream["rotation"];
  path: string;
  /** Maximum number of packets to decode before a range. */
  maxLeadPackets: number;
};

/**
 * Writes an excerpt. Ranges within one GOP share the packets decoded for them. Returns the container time of the source
 * that is time 0 of the excerpt. Errors: `SpliceError` if the packets do not allow it; those of reading and writing.
 */
export async function writeExcerpt(source: PacketSource, options: ExcerptOptions): Promise<Ticks> {
  const { frameRanges, rotation, path } = options;
  const ranges = await listDecodeRanges(source, options);
  const isKept = (frame: number) => frameRanges.some((frameRange) => frame >= frameRange.from && frame < frameRange.to);
  const { frames } = source.order;
  let first = Number.POSITIVE_INFINITY;
  for (const { from, to } of ranges)
    for (let index = from; index < to; index++)
      if (frames[index]! >= frames[from]! || isKept(frames[index]!)) first = Math.min(first, source.timestamps[index]!);
  async function* packets(): AsyncGenerator<VideoTrackPacket> {
    for (const range of ranges)
      for await (const { index, data } of readSourcePackets(source, range, isKept)) {
        const timestamp = source.timestamps[index]! - first;
        // Readers use the duration of the last packet only.
        yield { data, type: index === range.from ? "key" : "delta", timestamp, duration: PACKET_SECONDS };
      }
  }
  const config = { ...source.config, description: buildDecoderDescription(source.bitstream) };
  await writeAtomically(path, (tempPath) =>
    writeVideoTrack({ path: tempPath, config, rotation, constantRate: null, packets: packets() }),
  );
  return Math.round(first * TICKS_PER_SECOND);
}

const PACKET_SECONDS = 0.04;

/** Lists the packet ranges needed to decode the frames. They do not touch. */
async function listDecodeRanges(source: PacketSource, { frameRanges, maxLeadPackets }: ExcerptOptions) {
  const ranges: { from: number; to: number }[] = [];
  for (const frameRange of frameRanges) {
    const { from, to } = await findDecodeRange(source, frameRange);
    if (to - from - (frameRange.to - frameRange.from) > maxLeadPackets)
      throw new SpliceError("The segment is too far from a random access point.");
    const previous = ranges.at(-1);
    if (previous !== undefined && from <= previous.to) previous.to = Math.max(previous.to, to);
    else ranges.push({ from, to });
  }
  return ranges;
}
