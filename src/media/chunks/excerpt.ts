/** Excerpts of a source for chunks: small files with only the packets that a chunk needs. */
import type { ProbedMedia } from "../../domain/media";
import type { RenderChunk } from "../../domain/render-plan";
import { openPacketSource, type PacketSource } from "../packets/source";
import { openPacketWindow } from "../packets/window";

/** If more packets must be decoded before a segment, seeking is preferred: ffmpeg can also start at other points. */
export const MAX_LEAD_PACKETS = 1_000;

/**
 * Opens a source for excerpts. Returns null for an unsupported source, in which ffmpeg has to seek. The caller closes
 * it. Errors: the signal's reason.
 */
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

/** Like `openExcerptSource`, but for the excerpt of only one chunk. */
export async function openChunkSource(
  path: string,
  probed: ProbedMedia,
  chunk: RenderChunk,
  signal?: AbortSignal,
): Promise<PacketSource | null> {
  try {
    return await openPacketWindow(path, probed, chunk.segments, signal);
  } catch {
    signal?.throwIfAborted();
    return await openExcerptSource(path, probed, signal);
  }
}
