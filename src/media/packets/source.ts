/** The packets of an H.264 or HEVC source that keeps its parameter sets apart: their order, and which frame each one shows. */
import { type EncodedPacket, EncodedPacketSink, type InputVideoTrack } from "mediabunny";
import { AppError } from "../../domain/errors";
import type { Probed } from "../../domain/media";
import { neededPackets, type PacketOrder } from "../../domain/smart-plan";
import { type FrameTimes, frameCount, frameTime, type Rational, TICKS_PER_SECOND } from "../../domain/time";
import { letOthersRun } from "../parallel";
import { PACKETS_MAX } from "../probing/packet-listing";
import { checkMp4 } from "./mp4-check";
import { readMp4Structure } from "./mp4-edits";
import { openInput } from "./open-input";
import {
  asBeginning,
  beginsAnew,
  changesParameters,
  isKnownCodec,
  isReferred,
  nalUnits,
  packetOf,
  parseStream,
  type Stream,
} from "./stream";
import { packetsFrom, type TrackConfig, trackConfig } from "./video-track";

/** Why a source or a plan is not spliced but encoded whole: for the log. */
export class NotSpliced extends Error {}

export type PacketSource = {
  config: TrackConfig;
  stream: Stream;
  order: PacketOrder;
  /** Container time of each packet, decode order, seconds. */
  timestamps: Float64Array;
  sink: EncodedPacketSink;
  close(): void;
};

/** Containers that keep a decoder's parameter sets apart from the packets, and exact times. */
const CONTAINERS: readonly string[] = ["mov", "matroska"];
const PACKETS_AT_ONCE = 4_000;
/** A table whose chunks hold very many samples takes quadratic time: encoding the whole is quicker. */
const MAX_TABLE_MS = 120_000;
const SAME_FRAME_TICKS = 1_500;

/** Opens a source's packets. The caller closes it. Errors: `NotSpliced` with the reason; the signal's reason. */
export async function openPacketSource(path: string, probed: Probed, signal?: AbortSignal): Promise<PacketSource> {
  const { video, demuxer } = probed.info;
  if (video === null || probed.frames === null) throw new NotSpliced("no picture");
  if (!CONTAINERS.includes(demuxer)) throw new NotSpliced(`container ${demuxer}`);
  const { codec } = video;
  if (!isKnownCodec(codec)) throw new NotSpliced(`codec ${codec}`);
  if (video.interlaced) throw new NotSpliced("interlaced");
  if (demuxer === "mov") await checkTables(path, signal);
  const structure = demuxer === "mov" ? await readMp4Structure(path) : null;
  const tracks = structure?.tracks.filter((track) => track.kind === "video") ?? [];
  if (tracks.some((track) => track.complex)) throw new NotSpliced("several edits");
  if (tracks.some((track) => track.descriptions > 1)) throw new NotSpliced("several descriptions");
  const input = openInput(path);
  try {
    const track = await input.getPrimaryVideoTrack();
    if (track === null) throw new NotSpliced("no video track");
    const { config, stream } = await parametersOf(codec, track, video.pixelAspect);
    const sink = new EncodedPacketSink(track);
    const { timestamps, keys } = await readOrder(sink, signal);
    const frames = framesOf(timestamps, probed);
    const order = { frames, starts: startsOf(frames, keys) };
    return { config, stream, order, timestamps, sink, close: () => input.dispose() };
  } catch (error) {
    input.dispose();
    throw error;
  }
}

/** The check that probing makes: assets that an older version probed have not passed it. */
async function checkTables(path: string, signal: AbortSignal | undefined): Promise<void> {
  await checkMp4(path, signal).catch((error: unknown) => {
    throw error instanceof AppError ? new NotSpliced(error.message) : error;
  });
}

async function parametersOf(codec: Stream["codec"], track: InputVideoTrack, pixelAspect: Rational) {
  const config = await trackConfig(track).catch(() => null);
  if (config === null) throw new NotSpliced("the parameter sets are elsewhere");
  return { config: withAspect(config, pixelAspect), stream: orNotSpliced(() => parseStream(codec, config)) };
}

/** What cannot be read or joined is not spliced. Errors: `NotSpliced` for any that `read` throws. */
export function orNotSpliced<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw new NotSpliced(error instanceof Error ? error.message : String(error));
  }
}

/** The shape of the pixels as an exact fraction: mediabunny rounds the shown size to whole pixels. */
function withAspect(config: TrackConfig, { num, den }: Rational): TrackConfig {
  const { codec, codedWidth, codedHeight, description } = config;
  const aspect = { displayAspectWidth: codedWidth * num, displayAspectHeight: codedHeight * den };
  return { codec, codedWidth, codedHeight, description, ...(num === den ? {} : aspect) };
}

async function readOrder(sink: EncodedPacketSink, signal: AbortSignal | undefined) {
  const timestamps: number[] = [];
  const keys: number[] = [];
  const deadlineMs = performance.now() + MAX_TABLE_MS;
  for await (const packet of packetsFrom(sink, { metadataOnly: true })) {
    if (timestamps.length % PACKETS_AT_ONCE === 0) await letOthersRun();
    if (performance.now() > deadlineMs) throw new NotSpliced("the packet table takes too long to read");
    signal?.throwIfAborted();
    if (timestamps.length >= PACKETS_MAX) throw new NotSpliced("too many packets");
    if (packet.type === "key") keys.push(timestamps.length);
    timestamps.push(packet.timestamp);
  }
  return { timestamps: Float64Array.from(timestamps), keys };
}

/** The frame that each packet shows. Errors: `NotSpliced` when the packets are not exactly the frames that were probed. */
function framesOf(timestamps: Float64Array, probed: Probed): Int32Array {
  const frames = probed.frames as FrameTimes;
  const order = displayOrder(timestamps);
  const lead = order.length - frameCount(frames);
  if (lead < 0) throw new NotSpliced("fewer packets than frames");
  const numbers = new Int32Array(order.length);
  order.forEach((packet, rank) => {
    const frame = rank - lead;
    numbers[packet] = frame;
    if (rank > 0 && !(timestamps[packet]! > timestamps[order[rank - 1]!]!))
      throw new NotSpliced("two frames at one time");
    const time = timestamps[packet]! * TICKS_PER_SECOND - probed.info.startPts;
    if (frame >= 0 && Math.abs(time - frameTime(frames, frame)) > SAME_FRAME_TICKS)
      throw new NotSpliced("packets at other times than the frames");
  });
  return numbers;
}

/** How far a packet may stand from its place in display order. */
const DISPLACEMENT_MOST = 64;

/** Packets in display order. They nearly are already, so each is moved back to its place: quicker than sorting from scratch. */
function displayOrder(timestamps: Float64Array): Int32Array {
  const order = Int32Array.from(timestamps.keys());
  for (let n = 1; n < order.length; n++) {
    const packet = order[n]!;
    let at = n;
    for (; at > 0 && timestamps[order[at - 1]!]! > timestamps[packet]!; at--) order[at] = order[at - 1]!;
    if (n - at > DISPLACEMENT_MOST) throw new NotSpliced("packets far from their place");
    order[at] = packet;
  }
  return order;
}

/** Keyframes before which nothing is needed: all that is decoded earlier is shown earlier. */
function startsOf(frames: Int32Array, keys: readonly number[]): Int32Array {
  const starts: number[] = [];
  let highest = Number.NEGATIVE_INFINITY;
  let packet = 0;
  for (const key of keys) {
    for (; packet < key; packet++) highest = Math.max(highest, frames[packet]!);
    if (frames[key]! > highest) starts.push(key);
  }
  return Int32Array.from(starts);
}

/** A packet by its place in decode order. */
export async function packetAt(source: PacketSource, place: number): Promise<EncodedPacket> {
  const timestamp = source.timestamps[place]!;
  const packet = await source.sink.getPacket(timestamp);
  if (packet === null || packet.timestamp !== timestamp) throw new NotSpliced("a packet cannot be found again");
  return packet;
}

/** NAL units of a source packet. Errors: `NotSpliced` when it is damaged or changes the parameter sets. */
function unitsOf(packet: EncodedPacket, { stream }: PacketSource): Uint8Array[] {
  const units = orNotSpliced(() => nalUnits(packet.data, stream.sets.lengthSize));
  if (changesParameters(stream, units)) throw new NotSpliced("parameter sets change on the way");
  return units;
}

/** Whether decoding can begin at a packet: containers also mark other random access points. */
export async function canBeginAt(source: PacketSource, place: number): Promise<boolean> {
  return beginsAnew(source.stream, unitsOf(await packetAt(source, place), source));
}

/** Forgets a start that turned out to be none. */
export function forgetStart(source: PacketSource, place: number): void {
  source.order.starts = source.order.starts.filter((start) => start !== place);
}

/** The packets that decoding a range of frames needs, from one where it really can begin. */
export async function neededFor(source: PacketSource, range: { from: number; to: number }) {
  for (;;) {
    const needed = neededPackets(range, source.order);
    if (!source.order.starts.includes(needed.from) || (await canBeginAt(source, needed.from))) return needed;
    forgetStart(source, needed.from);
  }
}

export type SourcePacket = { place: number; frame: number; data: Uint8Array };

/**
 * Packets `[from, to)`, `from` being one at which decoding can begin: made independent of what came before. What `isKept` does not name is
 * left out, unless another picture may refer to it: no later one does to those that follow `from` but are shown before it.
 */
export async function* packetsBetween(
  source: PacketSource,
  { from, to }: { from: number; to: number },
  isKept: (frame: number) => boolean,
): AsyncGenerator<SourcePacket> {
  const { stream, order, timestamps } = source;
  const first = order.frames[from]!;
  let place = from;
  if (place >= to) return;
  for await (const packet of packetsFrom(source.sink, { start: await packetAt(source, place) })) {
    if (packet.timestamp !== timestamps[place]) throw new NotSpliced("packets come in another order");
    const frame = order.frames[place]!;
    const units = unitsOf(packet, source);
    if (isKept(frame) || (frame >= first && isReferred(stream, units))) {
      const isWhole = place > from && stream.sets.lengthSize === 4;
      const data = isWhole ? packet.data : packetOf(place === from ? asBeginning(stream, units) : units);
      yield { place, frame, data };
    }
    if (++place >= to) return;
  }
  throw new NotSpliced("the source ends before its table");
}
