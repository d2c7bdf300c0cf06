/** Opens only the packets of a source that some frames need: the table of an hour takes seconds, for every chunk. */
import type { EncodedPacket, EncodedPacketSink } from "mediabunny";
import type { ProbedMedia } from "../../domain/media";
import { type FrameTimes, getFrameAtOrBefore, getFrameTime, TICKS_PER_SECOND } from "../../domain/time";
import { yieldToEventLoop } from "../../lib/event-loop";
import {
  findDecodeRange,
  listRandomAccessPoints,
  MAX_DISPLACEMENT_PACKETS,
  openSource,
  type PacketSource,
  SAME_FRAME_TOLERANCE_TICKS,
  SpliceError,
} from "./source";

/** Frames `[from, to)` of a source. */
type FrameRange = { from: number; to: number };

/** Packets in decode order. The first `unverified` ones may be displayed after packets that come later. */
type Window = { first: number; unverified: number };

const PACKETS_PER_YIELD = 4_000;
/** Maximum number of packets before the frames of a range. Beyond it, reading the whole table is faster. */
const MAX_LEAD_PACKETS = 2_000;
const METADATA = { metadataOnly: true };

/**
 * Opens the packets for ascending frame ranges. Excerpts of these ranges equal those of a source that
 * `openPacketSource` has opened. The caller closes it. Errors: `SpliceError`, even if the whole table could be used;
 * the signal's reason.
 */
export async function openPacketWindow(
  path: string,
  probed: ProbedMedia,
  frameRanges: readonly FrameRange[],
  signal?: AbortSignal,
): Promise<PacketSource> {
  let windows: Window[] = [];
  const source = await openSource(path, probed, signal, async (sink) => {
    const table = await readWindows(sink, probed, frameRanges, signal);
    windows = table.windows;
    return table;
  });
  try {
    for (const range of frameRanges) await requireWithinWindow(source, range, windows);
    return source;
  } catch (error) {
    source[Symbol.dispose]();
    throw error;
  }
}

/** Decoding must start at a random access point within the same window. */
async function requireWithinWindow(source: PacketSource, range: FrameRange, windows: readonly Window[]) {
  const { from, to } = await findDecodeRange(source, range);
  const window = windows.findLast(({ first }) => first <= from)!;
  const isStartOfFile = window.first === 0 && window.unverified === 0;
  const isRandomAccess = source.order.randomAccessPoints.includes(from) || (isStartOfFile && from === 0);
  if (!isRandomAccess || windows.some(({ first }) => first > from && first < to))
    throw new SpliceError("No random access point is near.");
}

async function readWindows(
  sink: EncodedPacketSink,
  probed: ProbedMedia,
  frameRanges: readonly FrameRange[],
  signal: AbortSignal | undefined,
) {
  const frameTimes = probed.frames!;
  const start = await sink.getFirstPacket(METADATA);
  if (start === null) throw new SpliceError("The file has no packets.");
  const timestamps: number[] = [];
  const frames: number[] = [];
  const keys: number[] = [];
  const windows: Window[] = [];
  const seen = new Set<number>();
  let last: EncodedPacket | null = null;
  let highest = Number.NEGATIVE_INFINITY;

  function add(packet: EncodedPacket): void {
    const frame = getFrame(packet.timestamp, frameTimes, probed.info.startPts);
    if (seen.has(frame)) throw new SpliceError("Two frames have the same presentation time.");
    seen.add(frame);
    if (packet.type === "key") keys.push(frames.length);
    timestamps.push(packet.timestamp);
    frames.push(frame);
    highest = Math.max(highest, packet.timestamp);
    last = packet;
  }

  for (const range of frameRanges) {
    const opened: EncodedPacket = await findWindowStart(sink, start, range, probed);
    if (last === null || opened.timestamp > highest) {
      const unverified = opened.timestamp === start.timestamp ? 0 : MAX_DISPLACEMENT_PACKETS;
      windows.push({ first: frames.length, unverified });
      add(opened);
    }
    let missing = range.to - range.from;
    for (const frame of seen) if (frame >= range.from && frame < range.to) missing--;
    for (let read = 0; missing > 0; read++) {
      if (read > range.to - range.from + MAX_LEAD_PACKETS) throw new SpliceError("The frames are too far apart.");
      if (read % PACKETS_PER_YIELD === 0) await yieldToEventLoop();
      signal?.throwIfAborted();
      const packet: EncodedPacket | null = await sink.getNextPacket(last!, METADATA);
      if (packet === null) throw new SpliceError("The file has fewer packets than probed frames.");
      add(packet);
      const frame = frames.at(-1)!;
      if (frame >= range.from && frame < range.to) missing--;
    }
  }
  const order = Int32Array.from(frames);
  const isVerified = (key: number) => {
    const { first, unverified } = windows.findLast((window) => window.first <= key)!;
    return key - first >= unverified;
  };
  const randomAccessPoints = listRandomAccessPoints(order, keys).filter(isVerified);
  return { timestamps: Float64Array.from(timestamps), order: { frames: order, randomAccessPoints }, windows };
}

/**
 * Returns a key packet from which the random access point before a range is reached after at least
 * `MAX_DISPLACEMENT_PACKETS` packets, so that no packet before them is displayed after it.
 */
async function findWindowStart(
  sink: EncodedPacketSink,
  start: EncodedPacket,
  { from }: FrameRange,
  { frames, info }: ProbedMedia,
): Promise<EncodedPacket> {
  const findKey = (frame: number) => {
    const time = getFrameTime(frames!, frame) + info.startPts + SAME_FRAME_TOLERANCE_TICKS;
    return sink.getKeyPacket(time / TICKS_PER_SECOND, METADATA);
  };
  const key = await findKey(from);
  if (key === null) return start;
  const keyFrame = getFrame(key.timestamp, frames!, info.startPts);
  const earlier = keyFrame - 2 * MAX_DISPLACEMENT_PACKETS;
  return earlier <= 0 ? start : ((await findKey(earlier)) ?? start);
}

/** Returns the frame that a packet shows. Throws `SpliceError` if it shows none of the probed frames. */
function getFrame(timestamp: number, frames: FrameTimes, startPts: number): number {
  const time = timestamp * TICKS_PER_SECOND - startPts;
  const frame = getFrameAtOrBefore(frames, time + SAME_FRAME_TOLERANCE_TICKS);
  if (frame < 0 || !(Math.abs(time - getFrameTime(frames, frame)) <= SAME_FRAME_TOLERANCE_TICKS))
    throw new SpliceError("Packet times differ from the probed frame times.");
  return frame;
}
