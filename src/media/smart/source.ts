/** Decides whether a source can be spliced, and chooses the encoder settings for it. */
import type { ProbedMedia } from "../../domain/media";
import { measureReorderDepth, planSpliceSegments, type SpliceSegment } from "../../domain/smart-plan";
import type { Bitstream } from "../packets/bitstream";
import { findFreeParameterSetId } from "../packets/h264";
import { findFreeParameterSetIds } from "../packets/hevc";
import {
  isIndependentAt,
  isRandomAccessPointAt,
  openPacketSource,
  type PacketSource,
  removeRandomAccessPoint,
  SpliceError,
} from "../packets/source";
import { SPLICE_PROFILES, type SpliceCodec, type SpliceOptions } from "./splice-arguments";

export type SmartSource = PacketSource & { splice: SpliceOptions };

/** Maximum ratio of the bitrate of encoded segments to the source's. H.264 has more for CAVLC. */
const MAX_BITRATE_SHARE = { h264: 1.75, hevc: 1.5 };
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
  const supported = PIXEL_FORMATS[video?.codec ?? ""];
  if (supported !== undefined && !supported.includes(video?.pixelFormat ?? ""))
    throw new SpliceError(`Pixel format ${video?.pixelFormat} is not supported.`);
  const source = await openPacketSource(path, probed, signal);
  try {
    return { ...source, splice: chooseSpliceOptions(source, probed) };
  } catch (error) {
    source[Symbol.dispose]();
    throw error;
  }
}

function chooseSpliceOptions({ bitstream, order }: PacketSource, probed: ProbedMedia): SpliceOptions {
  const { color, pixelFormat, bitrate } = probed.info.video!;
  const codec = chooseSpliceCodec(bitstream);
  const known = [color.primaries, color.transfer, color.matrix].every(
    (name) => name === null || KNOWN_COLORS.includes(name),
  );
  if (!known) throw new SpliceError("Color tags are not supported by the encoder.");
  const share = MAX_BITRATE_SHARE[codec.codec];
  const maxBitrate = bitrate === null ? null : Math.max(MIN_MAX_BITRATE_BPS, Math.round(bitrate * share));
  return {
    ...codec,
    reorderDepth: measureReorderDepth(order.frames),
    color,
    pixelFormat: pixelFormat!,
    maxBitrate,
  };
}

function chooseSpliceCodec(bitstream: Bitstream): SpliceCodec {
  if (bitstream.codec === "h264") {
    const profile = SPLICE_PROFILES[bitstream.parameterSets.profile];
    if (profile === undefined)
      throw new SpliceError(`H.264 profile ${bitstream.parameterSets.profile} is not supported.`);
    const parameterSetId = findFreeParameterSetId(bitstream.parameterSets);
    if (parameterSetId === null) throw new SpliceError("All parameter set ids are in use.");
    return { codec: "h264", parameterSetId, profile };
  }
  const profile = bitstream.parameterSets.header[1]! & 31;
  if (profile !== HEVC_MAIN_PROFILE) throw new SpliceError(`HEVC profile ${profile} is not supported.`);
  const ids = findFreeParameterSetIds(bitstream.parameterSets);
  if (ids === null) throw new SpliceError("All parameter set ids are in use.");
  return { codec: "hevc", ids };
}

/** Returns the last packet of each copied segment from which a decoder can reach its end without a message. */
export async function listDecodeStarts(source: SmartSource, segments: readonly SpliceSegment[]): Promise<Int32Array> {
  const { frames, randomAccessPoints } = source.order;
  const starts: number[] = [];
  for (const segment of segments) {
    if (segment.kind === "encode") continue;
    const { firstPacket, endPacket, to } = segment;
    const inside = randomAccessPoints.filter((n) => n > firstPacket && n < endPacket && frames[n]! < to);
    for (const packet of inside.toReversed()) {
      if (!(await isIndependentAt(source, packet))) continue;
      starts.push(packet);
      break;
    }
  }
  return Int32Array.from(starts);
}

/**
 * Plans the segments of one kept range. Each copy starts at a verified random access point: containers also mark other
 * pictures as sync samples, and these are removed.
 */
export async function planRange(source: SmartSource, range: { from: number; to: number }): Promise<SpliceSegment[]> {
  for (;;) {
    const segments = planSpliceSegments(range, source.order);
    const copy = segments.find((segment) => segment.kind === "copy");
    if (copy === undefined) return segments;
    if (await isRandomAccessPointAt(source, copy.firstPacket)) return segments;
    removeRandomAccessPoint(source, copy.firstPacket);
  }
}
