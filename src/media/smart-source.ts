/** Whether a source can be spliced, and the order of its packets. */
import {
  ALL_FORMATS,
  type EncodedPacket,
  EncodedPacketSink,
  FilePathSource,
  Input,
  type InputVideoTrack,
} from "mediabunny";
import type { Probed } from "../domain/media";
import { type PacketOrder, planPieces, reorderDepth, type SmartPiece } from "../domain/smart-plan";
import { type FrameTimes, frameCount, frameTime, type Rational, TICKS_PER_SECOND } from "../domain/time";
import { type AvcConfig, changesParameters, freeParameterId, NAL_IDR, nalType, nalUnits, parseAvcConfig } from "./h264";
import { readMp4Structure } from "./mp4-edits";
import { letOthersRun } from "./parallel";
import { SPLICE_PROFILES, type SpliceOptions } from "./splice-arguments";
import { type TrackConfig, trackConfig } from "./video-track";

/** Why a source or a plan is not spliced but encoded whole: for the log. */
export class NotSpliced extends Error {}

export type SmartSource = {
  config: TrackConfig;
  avc: AvcConfig;
  splice: SpliceOptions;
  order: PacketOrder;
  /** Container time of each packet, decode order, seconds. */
  timestamps: Float64Array;
  sink: EncodedPacketSink;
  close(): void;
};

/** Containers that keep a decoder's parameter sets apart from the packets, and exact times. */
const CONTAINERS: readonly string[] = ["mov", "matroska"];
const PACKETS_AT_ONCE = 4_000;
const SAME_FRAME_TICKS = 1_500;

/** Opens a source for splicing. The caller closes it. Errors: `NotSpliced` with the reason; the signal's reason. */
export async function openSmartSource(path: string, probed: Probed, signal?: AbortSignal): Promise<SmartSource> {
  const { video, demuxer } = probed.info;
  if (video === null || probed.frames === null) throw new NotSpliced("no picture");
  if (!CONTAINERS.includes(demuxer)) throw new NotSpliced(`container ${demuxer}`);
  if (video.codec !== "h264") throw new NotSpliced(`codec ${video.codec}`);
  if (video.interlaced) throw new NotSpliced("interlaced");
  if (!/^yuvj?420p$/.test(video.pixelFormat ?? "")) throw new NotSpliced(`pixel format ${video.pixelFormat}`);
  const structure = demuxer === "mov" ? await readMp4Structure(path) : null;
  const tracks = structure?.tracks.filter((track) => track.kind === "video") ?? [];
  if (tracks.some((track) => track.complex)) throw new NotSpliced("several edits");
  if (tracks.some((track) => track.descriptions > 1)) throw new NotSpliced("several descriptions");
  const input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS });
  try {
    const track = await input.getPrimaryVideoTrack();
    if (track === null) throw new NotSpliced("no video track");
    const { config, avc, splice } = await parametersOf(track, probed);
    const sink = new EncodedPacketSink(track);
    const { timestamps, keys } = await readOrder(sink, signal);
    const frames = framesOf(timestamps, probed);
    splice.reorder = reorderDepth(frames);
    const order = { frames, starts: startsOf(frames, keys) };
    return { config, avc, splice, order, timestamps, sink, close: () => input.dispose() };
  } catch (error) {
    input.dispose();
    throw error;
  }
}

async function parametersOf(track: InputVideoTrack, probed: Probed) {
  const config = await trackConfig(track).catch(() => null);
  if (config === null || !config.codec.startsWith("avc1")) throw new NotSpliced("no avcC");
  const avc = parse(config.description);
  const profile = SPLICE_PROFILES[avc.profile];
  if (profile === undefined) throw new NotSpliced(`profile ${avc.profile}`);
  const parameterId = freeParameterId(avc);
  if (parameterId === null) throw new NotSpliced("no free parameter set id");
  const { color } = probed.info.video!;
  const known = [color.primaries, color.transfer, color.matrix].every((name) => name === null || COLORS.includes(name));
  if (!known) throw new NotSpliced("colour tags that the encoder does not know");
  const { pixelFormat, bitrate, pixelAspect } = probed.info.video!;
  const ceiling = bitrate === null ? null : Math.max(CEILING_LEAST, Math.round(bitrate * CEILING_SHARE));
  const splice = { parameterId, profile, reorder: 0, color, pixelFormat: pixelFormat!, ceiling };
  return { config: withAspect(config, pixelAspect), avc, splice };
}

/** The shape of the pixels as an exact fraction: mediabunny rounds the shown size to whole pixels. */
function withAspect(config: TrackConfig, { num, den }: Rational): TrackConfig {
  const { codec, codedWidth, codedHeight, description } = config;
  const aspect = { displayAspectWidth: codedWidth * num, displayAspectHeight: codedHeight * den };
  return { codec, codedWidth, codedHeight, description, ...(num === den ? {} : aspect) };
}

/** How far above the source's rate the pieces may go. */
const CEILING_SHARE = 1.5;
const CEILING_LEAST = 500_000;

/** Names that every ffmpeg both prints and takes. */
const COLORS: readonly string[] = ["bt709", "bt470bg", "smpte170m", "smpte240m"];

function parse(description: Uint8Array): AvcConfig {
  try {
    return parseAvcConfig(description);
  } catch (error) {
    throw new NotSpliced(String(error));
  }
}

async function readOrder(sink: EncodedPacketSink, signal: AbortSignal | undefined) {
  const timestamps: number[] = [];
  const keys: number[] = [];
  for await (const packet of sink.packets(undefined, undefined, { metadataOnly: true })) {
    if (timestamps.length % PACKETS_AT_ONCE === 0) await letOthersRun();
    signal?.throwIfAborted();
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

/**
 * The pieces of one kept range, each copy beginning at a packet that really is an IDR picture: containers also mark other random access
 * points. What turns out to be none is forgotten.
 */
export async function piecesOf(source: SmartSource, range: { from: number; to: number }): Promise<SmartPiece[]> {
  for (;;) {
    const pieces = planPieces(range, source.order);
    const copy = pieces.find((piece) => piece.kind === "copy");
    if (copy === undefined) return pieces;
    const packet = await packetAt(source, copy.packet);
    if (unitsOf(packet, source).some((nal) => nalType(nal) === NAL_IDR)) return pieces;
    source.order.starts = source.order.starts.filter((start) => start !== copy.packet);
  }
}

/** A packet by its place in decode order. */
export async function packetAt(source: SmartSource, place: number): Promise<EncodedPacket> {
  const timestamp = source.timestamps[place]!;
  const packet = await source.sink.getPacket(timestamp);
  if (packet === null || packet.timestamp !== timestamp) throw new NotSpliced("a packet cannot be found again");
  return packet;
}

/** NAL units of a source packet. Errors: `NotSpliced` when it is damaged or changes the parameter sets. */
export function unitsOf(packet: EncodedPacket, source: SmartSource): Uint8Array[] {
  let units: Uint8Array[];
  try {
    units = nalUnits(packet.data, source.avc.lengthSize);
  } catch (error) {
    throw new NotSpliced(String(error));
  }
  if (changesParameters(units, source.avc)) throw new NotSpliced("parameter sets change on the way");
  return units;
}
