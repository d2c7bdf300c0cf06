/** Decides whether a source can be spliced, and chooses the encoder settings for it. */
import type { ProbedMedia } from "../../domain/media";
import { measureReorderDepth, planSpliceSegments, type SpliceSegment } from "../../domain/smart-plan";
import type { Bitstream } from "../packets/bitstream";
import { findFreeParameterSetId } from "../packets/h264";
import { findFreeParameterSetIds } from "../packets/hevc";
import {
  isRandomAccessPointAt,
  openPacketSource,
  type PacketSource,
  removeRandomAccessPoint,
  SpliceError,
} from "../packets/source";
import { SPLICE_PROFILES, type SpliceCodec, type SpliceOptions } from "./splice-arguments";

export type SmartSource = PacketSource & { splice: SpliceOptions };

/** How far the bitrate of encoded segments may exceed the source's. */
const MAX_BITRATE_SHARE = 1.5;
const MIN_MAX_BITRATE_BPS = 500_000;

/** `general_profile_idc` of the Main profile: 8 bits, 4:2:0. */
const HEVC_MAIN_PROFILE = 1;

/** Pixel formats that the encoders of every ffmpeg version accept. */
const PIXEL_FORMATS: Record<string, readonly string[]> = { h264: ["yuv420p", "yuvj420p"], hevc: ["yuv420p"] };

/** Names that every ffmpeg version both prints and accepts. */
const KNOWN_COLORS: readonly string[] = ["bt709", "bt470bg", "smpte170m", "smpte240m"];

/** Opens a source for splicing. The caller closes it. Errors: `SpliceError` with the reason; the signal's reason. */
export async function openSmartSource(path: string, probed: ProbedMedia, signal?: AbortSignal): Promise<SmartSource> {
  const { video } = probed.info;
  const fitting = PIXEL_FORMATS[video?.codec ?? ""];
  if (fitting !== undefined && !fitting.includes(video?.pixelFormat ?? ""))
    throw new SpliceError(`pixel format ${video?.pixelFormat}`);
  const source = await openPacketSource(path, probed, signal);
  try {
    return { ...source, splice: chooseSpliceOptions(source, probed) };
  } catch (error) {
    source.close();
    throw error;
  }
}

function chooseSpliceOptions({ bitstream: stream, order }: PacketSource, probed: ProbedMedia): SpliceOptions {
  const { color, pixelFormat, bitrate } = probed.info.video!;
  const codec = chooseSpliceCodec(stream);
  const known = [color.primaries, color.transfer, color.matrix].every(
    (name) => name === null || KNOWN_COLORS.includes(name),
  );
  if (!known) throw new SpliceError("colour tags that the encoder does not know");
  const ceiling = bitrate === null ? null : Math.max(MIN_MAX_BITRATE_BPS, Math.round(bitrate * MAX_BITRATE_SHARE));
  return {
    ...codec,
    reorderDepth: measureReorderDepth(order.frames),
    color,
    pixelFormat: pixelFormat!,
    maxBitrate: ceiling,
  };
}

function chooseSpliceCodec(stream: Bitstream): SpliceCodec {
  if (stream.codec === "h264") {
    const profile = SPLICE_PROFILES[stream.parameterSets.profile];
    if (profile === undefined) throw new SpliceError(`profile ${stream.parameterSets.profile}`);
    const parameterId = findFreeParameterSetId(stream.parameterSets);
    if (parameterId === null) throw new SpliceError("no free parameter set id");
    return { codec: "h264", parameterSetId: parameterId, profile };
  }
  const profile = stream.parameterSets.header[1]! & 31;
  if (profile !== HEVC_MAIN_PROFILE) throw new SpliceError(`profile ${profile}`);
  const ids = findFreeParameterSetIds(stream.parameterSets);
  if (ids === null) throw new SpliceError("no free parameter set id");
  return { codec: "hevc", ids };
}

/**
 * Plans the segments of one kept range. Each copy starts at a verified random access point: containers also mark other pictures as sync
 * samples, and these are removed.
 */
export async function planRange(source: SmartSource, range: { from: number; to: number }): Promise<SpliceSegment[]> {
  for (;;) {
    const pieces = planSpliceSegments(range, source.order);
    const copy = pieces.find((piece) => piece.kind === "copy");
    if (copy === undefined) return pieces;
    if (await isRandomAccessPointAt(source, copy.firstPacket)) return pieces;
    removeRandomAccessPoint(source, copy.firstPacket);
  }
}
