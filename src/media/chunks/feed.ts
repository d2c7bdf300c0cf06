/** The feed of a chunk: a small file with only the packets that it needs. */
import type { Probed, VideoStream } from "../../domain/media";
import type { Chunk } from "../../domain/render-plan";
import type { Ticks } from "../../domain/time";
import { writeFeed } from "../packets/feed";
import { openPacketSource, type PacketSource } from "../packets/source";

/** Decoding more than this before a piece is not worth the exactness: seeking finds other points to begin. */
const LEAD_PACKETS_MOST = 1_000;

/** Opens a source to feed chunks from; null when it is of a kind that is sought in. The caller closes it. Errors: the signal's reason. */
export async function openFeed(path: string, probed: Probed, signal?: AbortSignal): Promise<PacketSource | null> {
  try {
    return await openPacketSource(path, probed, signal);
  } catch {
    signal?.throwIfAborted();
    return null;
  }
}

/** Writes the feed of a chunk. Returns and errors: as `writeFeed`. */
export async function feedChunk(
  source: PacketSource,
  chunk: Chunk,
  rotation: VideoStream["rotation"],
  path: string,
): Promise<Ticks> {
  return await writeFeed(source, { pieces: chunk.pieces, rotation, path, leadMost: LEAD_PACKETS_MOST });
}
