/** Opens the packets of an H.264 or HEVC source with out-of-band parameter sets: their order and their frames. */
import { type EncodedPacket, EncodedPacketSink, type InputVideoTrack } from "mediabunny";
import { AppError } from "../../domain/errors";
import type { ProbedMedia } from "../../domain/media";
import { type PacketOrder, planDecodeRange } from "../../domain/smart-plan";
import { type FrameTimes, getFrameCount, getFrameTime, type Rational, TICKS_PER_SECOND } from "../../domain/time";
import { yieldToEventLoop } from "../../lib/event-loop";
import { MAX_PACKETS } from "../probing/packet-listing";
import {
  type Bitstream,
  buildPacket,
  changesParameterSets,
  createEntryRewriter,
  isRandomAccessPoint,
  isReferencePicture,
  isSpliceableCodec,
  parseBitstream,
  parseNalUnits,
  toSplicedRandomAccessPoint,
} from "./bitstream";
import type { RecoveryRewriter } from "./h264-recovery";
import { checkMp4 } from "./mp4-check";
import { readMp4Structure } from "./mp4-structure";
import { openInput } from "./open-input";
import { iteratePackets, readTrackConfig, type VideoTrackConfig } from "./video-track";

/** Thrown when a source or plan cannot be spliced and must be encoded. The message is the reason, for the log. */
export class SpliceError extends Error {}

/** The packets of a source. Disposing of it closes the file. */
export type PacketSource = Disposable & {
  config: VideoTrackConfig;
  bitstream: Bitstream;
  order: PacketOrder;
  /** Container time of each packet in decode order, in seconds. */
  timestamps: Float64Array;
  sink: EncodedPacketSink;
};

/** Containers with out-of-band parameter sets and exact times. */
const CONTAINERS: readonly string[] = ["mov", "matroska"];
const PACKETS_PER_YIELD = 4_000;
/** Chunks with very many samples make reading the table quadratic. A full encode is then faster. */
const MAX_TABLE_MS = 120_000;
export const SAME_FRAME_TOLERANCE_TICKS = 1_500;

/** Opens a source's packets. The caller closes it. Errors: `SpliceError` with the reason; the signal's reason. */
export function openPacketSource(path: string, probed: ProbedMedia, signal?: AbortSignal): Promise<PacketSource> {
  return openSource(path, probed, signal, async (sink) => {
    const { timestamps, keys } = await readPacketOrder(sink, signal);
    const frames = matchPacketsToFrames(timestamps, probed);
    return { timestamps, order: { frames, randomAccessPoints: listRandomAccessPoints(frames, keys) } };
  });
}

/** Opens the packets that `readTable` reads from the video track. Errors: those of `openPacketSource`, `readTable`. */
export async function openSource(
  path: string,
  probed: ProbedMedia,
  signal: AbortSignal | undefined,
  readTable: (sink: EncodedPacketSink) => Promise<Pick<PacketSource, "timestamps" | "order">>,
): Promise<PacketSource> {
  const { video, demuxer } = probed.info;
  if (video === null || probed.frames === null) throw new SpliceError("The source has no video.");
  if (!CONTAINERS.includes(demuxer)) throw new SpliceError(`Container ${demuxer} is not supported.`);
  const { codec } = video;
  if (!isSpliceableCodec(codec)) throw new SpliceError(`Codec ${codec} is not supported.`);
  if (video.interlaced) throw new SpliceError("The video is interlaced.");
  if (demuxer === "mov") await checkPacketTables(path, signal);
  const structure = demuxer === "mov" ? await readMp4Structure(path) : null;
  const tracks = structure?.tracks.filter((track) => track.kind === "video") ?? [];
  if (tracks.some((track) => track.hasComplexEdits)) throw new SpliceError("The edit list has several edits.");
  if (tracks.some((track) => track.sampleDescriptionCount > 1))
    throw new SpliceError("The track has several sample descriptions.");
  const input = openInput(path);
  try {
    const track = await input.getPrimaryVideoTrack();
    if (track === null) throw new SpliceError("The file has no video track.");
    const { config, bitstream } = await readParameterSets(codec, track, video.pixelAspect);
    const sink = new EncodedPacketSink(track);
    const table = await readTable(sink);
    return { config, bitstream, ...table, sink, [Symbol.dispose]: () => input.dispose() };
  } catch (error) {
    input.dispose();
    throw error;
  }
}

/** Repeats the check of probing, because assets that an older version has probed did not pass it. */
async function checkPacketTables(path: string, signal: AbortSignal | undefined): Promise<void> {
  await checkMp4(path, signal).catch((error: unknown) => {
    throw error instanceof AppError ? new SpliceError(error.message) : error;
  });
}

async function readParameterSets(codec: Bitstream["codec"], track: InputVideoTrack, pixelAspect: Rational) {
  const config = await readTrackConfig(track).catch(() => null);
  if (config === null) throw new SpliceError("The parameter sets are in-band.");
  return {
    config: withPixelAspect(config, pixelAspect),
    bitstream: withSpliceError(() => parseBitstream(codec, config)),
  };
}

/** Calls `read`. Errors: `SpliceError` with the message of any error that `read` throws. */
export function withSpliceError<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw new SpliceError(error instanceof Error ? error.message : String(error));
  }
}

/** Returns the configuration with an exact pixel aspect ratio: mediabunny rounds the display size to whole pixels. */
function withPixelAspect(config: VideoTrackConfig, { num, den }: Rational): VideoTrackConfig {
  const { codec, codedWidth, codedHeight, description } = config;
  const parameters = { codec, codedWidth, codedHeight, description };
  if (num === den) return parameters;
  return { ...parameters, displayAspectWidth: codedWidth * num, displayAspectHeight: codedHeight * den };
}

async function readPacketOrder(sink: EncodedPacketSink, signal: AbortSignal | undefined) {
  const timestamps: number[] = [];
  const keys: number[] = [];
  const deadlineMs = performance.now() + MAX_TABLE_MS;
  for await (const packet of iteratePackets(sink, { metadataOnly: true })) {
    if (timestamps.length % PACKETS_PER_YIELD === 0) await yieldToEventLoop();
    if (performance.now() > deadlineMs) throw new SpliceError("Reading the packet table takes too long.");
    signal?.throwIfAborted();
    if (timestamps.length >= MAX_PACKETS) throw new SpliceError("The file has too many packets.");
    if (packet.type === "key") keys.push(timestamps.length);
    timestamps.push(packet.timestamp);
  }
  return { timestamps: Float64Array.from(timestamps), keys };
}

/** Returns the frame that each packet shows. Errors: `SpliceError` when the packets do not match the probed frames. */
function matchPacketsToFrames(timestamps: Float64Array, probed: ProbedMedia): Int32Array {
  const frames = probed.frames as FrameTimes;
  const order = sortByDisplayOrder(timestamps);
  const lead = order.length - getFrameCount(frames);
  if (lead < 0) throw new SpliceError("The file has fewer packets than probed frames.");
  const numbers = new Int32Array(order.length);
  order.forEach((packet, rank) => {
    const frame = rank - lead;
    numbers[packet] = frame;
    if (rank > 0 && !(timestamps[packet]! > timestamps[order[rank - 1]!]!))
      throw new SpliceError("Two frames have the same presentation time.");
    const time = timestamps[packet]! * TICKS_PER_SECOND - probed.info.startPts;
    if (frame >= 0 && Math.abs(time - getFrameTime(frames, frame)) > SAME_FRAME_TOLERANCE_TICKS)
      throw new SpliceError("Packet times differ from the probed frame times.");
  });
  return numbers;
}

/** Maximum distance between the decode order and the display order of a packet. */
export const MAX_DISPLACEMENT_PACKETS = 64;

/** Returns the packets in display order. They are nearly sorted, so insertion sort is faster than a full sort. */
function sortByDisplayOrder(timestamps: Float64Array): Int32Array {
  const order = Int32Array.from(timestamps.keys());
  for (let n = 1; n < order.length; n++) {
    const packet = order[n]!;
    let at = n;
    for (; at > 0 && timestamps[order[at - 1]!]! > timestamps[packet]!; at--) order[at] = order[at - 1]!;
    if (n - at > MAX_DISPLACEMENT_PACKETS) throw new SpliceError("Decode order is too far from display order.");
    order[at] = packet;
  }
  return order;
}

/** Returns the keyframes that also follow, in display order, all packets decoded before them. */
export function listRandomAccessPoints(frames: Int32Array, keys: readonly number[]): Int32Array {
  const randomAccessPoints: number[] = [];
  let highest = Number.NEGATIVE_INFINITY;
  let packet = 0;
  for (const key of keys) {
    for (; packet < key; packet++) highest = Math.max(highest, frames[packet]!);
    if (frames[key]! > highest) randomAccessPoints.push(key);
  }
  return Int32Array.from(randomAccessPoints);
}

/** Returns a packet by its index in decode order. */
export async function getPacket(source: PacketSource, index: number): Promise<EncodedPacket> {
  const timestamp = source.timestamps[index]!;
  const packet = await source.sink.getPacket(timestamp);
  if (packet === null || packet.timestamp !== timestamp) throw new SpliceError("A packet of the table cannot be read.");
  return packet;
}

/** Parses the NAL units of a source packet. Errors: `SpliceError` when it is damaged or changes the parameter sets. */
function parsePacket(packet: EncodedPacket, { bitstream }: PacketSource): Uint8Array[] {
  const units = withSpliceError(() => parseNalUnits(packet.data, bitstream.parameterSets.lengthSize));
  if (changesParameterSets(bitstream, units)) throw new SpliceError("Parameter sets change within the stream.");
  return units;
}

/** Returns whether decoding can start at a packet. Containers also mark other pictures as sync samples. */
export async function isRandomAccessPointAt(source: PacketSource, index: number): Promise<boolean> {
  const units = parsePacket(await getPacket(source, index), source);
  if (isRandomAccessPoint(source.bitstream, units)) return true;
  return createEntryRewriter(source.bitstream, units) !== null && (await isRecoveryPointAt(source, index));
}

/**
 * Returns whether decoding can start at a packet as it is in the source, and all packets after it are shown after it.
 */
export async function isIndependentAt(source: PacketSource, index: number): Promise<boolean> {
  const { frames } = source.order;
  if (frames[index + 1]! < frames[index]!) return false;
  return isRandomAccessPoint(source.bitstream, parsePacket(await getPacket(source, index), source));
}

/** Packets after an intra picture that are examined: enough for all references to be newer. */
const MAX_RECOVERY_PACKETS = 120;

/** Returns whether the packets after an intra picture, without its leading pictures, refer to no picture before it. */
async function isRecoveryPointAt(source: PacketSource, from: number): Promise<boolean> {
  const to = Math.min(source.timestamps.length, from + MAX_RECOVERY_PACKETS);
  try {
    for await (const { isSettled } of readSourcePackets(source, { from, to }, () => true)) if (isSettled) break;
    return true;
  } catch (error) {
    if (error instanceof SpliceError) return false;
    throw error;
  }
}

export function removeRandomAccessPoint(source: PacketSource, index: number): void {
  source.order.randomAccessPoints = source.order.randomAccessPoints.filter((start) => start !== index);
}

/** Returns the packet range that decoding a range of frames needs, starting at a verified random access point. */
export async function findDecodeRange(source: PacketSource, range: { from: number; to: number }) {
  for (;;) {
    const needed = planDecodeRange(range, source.order);
    if (!source.order.randomAccessPoints.includes(needed.from) || (await isRandomAccessPointAt(source, needed.from)))
      return needed;
    removeRandomAccessPoint(source, needed.from);
  }
}

/** `isSettled`: no packet from here on can refer to one before the start. */
export type SourcePacket = { index: number; frame: number; data: Uint8Array; isSettled: boolean };

/**
 * Yields the packets `[from, to)`; `from` is a random access point and is made independent of earlier packets. Packets
 * that `isKept` rejects are skipped, unless another picture may refer to them. No kept picture refers to the leading
 * pictures of `from`.
 */
export async function* readSourcePackets(
  source: PacketSource,
  { from, to }: { from: number; to: number },
  isKept: (frame: number) => boolean,
): AsyncGenerator<SourcePacket> {
  const { bitstream, order, timestamps } = source;
  const first = order.frames[from]!;
  let index = from;
  if (index >= to) return;
  let rewriter: RecoveryRewriter | null = null;
  for await (const packet of iteratePackets(source.sink, { start: await getPacket(source, index) })) {
    if (packet.timestamp !== timestamps[index]) throw new SpliceError("Packets are not in the order of the table.");
    const frame = order.frames[index]!;
    const units = parsePacket(packet, source);
    if (index === from && !isRandomAccessPoint(bitstream, units)) {
      rewriter = createEntryRewriter(bitstream, units);
      if (rewriter === null) throw new SpliceError("A segment does not start with a random access point.");
    }
    const entry = rewriter?.isDone() === false ? rewriter : null;
    const isWanted = isKept(frame) && (entry === null || frame >= first);
    if (isWanted || (frame >= first && isReferencePicture(bitstream, units))) {
      const isUnchanged = index > from && bitstream.parameterSets.lengthSize === 4 && entry === null;
      const spliced = index === from && entry === null ? toSplicedRandomAccessPoint(bitstream, units) : units;
      const written = entry === null ? spliced : withSpliceError(() => entry.rewrite(units));
      const data = isUnchanged ? packet.data : buildPacket(written);
      yield { index, frame, data, isSettled: entry === null || entry.isDone() || entry.isSettled() };
    } else if (entry !== null) withSpliceError(() => entry.drop(units));
    if (++index >= to) return;
  }
  throw new SpliceError("The source ends before its packet table does.");
}
