/** Whether a source can be spliced, and with which encoding. */
import type { Probed } from "../../domain/media";
import { planPieces, reorderDepth, type SmartPiece } from "../../domain/smart-plan";
import { freeParameterId } from "../packets/h264";
import { freeIds } from "../packets/hevc";
import { canBeginAt, forgetStart, NotSpliced, openPacketSource, type PacketSource } from "../packets/source";
import type { Stream } from "../packets/stream";
import { SPLICE_PROFILES, type SpliceCodec, type SpliceOptions } from "./splice-arguments";

export type SmartSource = PacketSource & { splice: SpliceOptions };

/** How far above the source's rate the pieces may go. */
const CEILING_SHARE = 1.5;
const CEILING_LEAST = 500_000;

/** The number of HEVC's profile for 8 bits and 4:2:0. */
const HEVC_MAIN = 1;

/** What the encoders of every ffmpeg take as it is. */
const PIXEL_FORMATS: Record<string, readonly string[]> = { h264: ["yuv420p", "yuvj420p"], hevc: ["yuv420p"] };

/** Names that every ffmpeg both prints and takes. */
const COLORS: readonly string[] = ["bt709", "bt470bg", "smpte170m", "smpte240m"];

/** Opens a source for splicing. The caller closes it. Errors: `NotSpliced` with the reason; the signal's reason. */
export async function openSmartSource(path: string, probed: Probed, signal?: AbortSignal): Promise<SmartSource> {
  const { video } = probed.info;
  const fitting = PIXEL_FORMATS[video?.codec ?? ""];
  if (fitting !== undefined && !fitting.includes(video?.pixelFormat ?? ""))
    throw new NotSpliced(`pixel format ${video?.pixelFormat}`);
  const source = await openPacketSource(path, probed, signal);
  try {
    return { ...source, splice: spliceFor(source, probed) };
  } catch (error) {
    source.close();
    throw error;
  }
}

function spliceFor({ stream, order }: PacketSource, probed: Probed): SpliceOptions {
  const { color, pixelFormat, bitrate } = probed.info.video!;
  const codec = codecFor(stream);
  const known = [color.primaries, color.transfer, color.matrix].every((name) => name === null || COLORS.includes(name));
  if (!known) throw new NotSpliced("colour tags that the encoder does not know");
  const ceiling = bitrate === null ? null : Math.max(CEILING_LEAST, Math.round(bitrate * CEILING_SHARE));
  return { ...codec, reorder: reorderDepth(order.frames), color, pixelFormat: pixelFormat!, ceiling };
}

function codecFor(stream: Stream): SpliceCodec {
  if (stream.codec === "h264") {
    const profile = SPLICE_PROFILES[stream.sets.profile];
    if (profile === undefined) throw new NotSpliced(`profile ${stream.sets.profile}`);
    const parameterId = freeParameterId(stream.sets);
    if (parameterId === null) throw new NotSpliced("no free parameter set id");
    return { codec: "h264", parameterId, profile };
  }
  const profile = stream.sets.head[1]! & 31;
  if (profile !== HEVC_MAIN) throw new NotSpliced(`profile ${profile}`);
  const ids = freeIds(stream.sets);
  if (ids === null) throw new NotSpliced("no free parameter set id");
  return { codec: "hevc", ids };
}

/**
 * The pieces of one kept range, each copy beginning at a packet at which decoding really can begin: containers also mark other random
 * access points. What turns out to be none is forgotten.
 */
export async function piecesOf(source: SmartSource, range: { from: number; to: number }): Promise<SmartPiece[]> {
  for (;;) {
    const pieces = planPieces(range, source.order);
    const copy = pieces.find((piece) => piece.kind === "copy");
    if (copy === undefined) return pieces;
    if (await canBeginAt(source, copy.packet)) return pieces;
    forgetStart(source, copy.packet);
  }
}
