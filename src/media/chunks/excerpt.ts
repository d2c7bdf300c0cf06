/** The feed of a chunk: a small file with only the packets that it needs. */
import type { ProbedMedia, VideoStream } from "../../domain/media";
import type { RenderChunk } from "../../domain/render-plan";
import type { Ticks } from "../../domain/time";
import { writeExcerpt } from "../packets/excerpt";
import { openPacketSource, type PacketSource } from "../packets/source";

/** Decoding more than this before a piece is not worth the exactness: seeking finds other points to begin. */
const MAX_LEAD_PACKETS = 1_000;

/** Opens a source to feed chunks from; null when it is of a kind that is sought in. The caller closes it. Errors: the signal's reason. */
export async function openExcerptSource(
  path: string,
  probed: ProbedMedia,
  signal?: AbortSignal,
): Promise<PacketSource | null> {
  try {
    return await openPacketSource(path, probed, signal);
  } catch {
    signal?.throwIfAborted();
    return null;
  }
}

/** Writes the feed of a chunk. Returns and errors: as `writeFeed`. */
export async function writeChunkExcerpt(
  source: PacketSource,
  chunk: RenderChunk,
  rotation: VideoStream["rotation"],
  path: string,
): Promise<Ticks> {
  return await writeExcerpt(source, { frameRanges: chunk.segments, rotation, path, maxLeadPackets: MAX_LEAD_PACKETS });
}
