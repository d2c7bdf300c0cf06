/** Pieces of previews on request. Caches the starts of pieces; workspaces take turns with a few encodings at a time. */
import { AppError } from "../../domain/errors";
import type { PreviewFacts } from "../../domain/preview";
import { createByteBudget } from "../../lib/byte-budget";
import { createByteCache } from "../../lib/byte-cache";
import { createFairSemaphore, SemaphoreFullError } from "../../lib/fair-semaphore";
import type { EncodedHead } from "../../media/preview/head";
import { createHeadEncoders } from "../../media/preview/head-encoders";
import { createAudioPiece, createSeekPiece, createVideoPiece, type HeadRequest } from "../../media/preview/piece";
import { CHUNK_BYTES, type PiecePart, readParts } from "../../media/preview/read-parts";
import type { Asset } from "../../store/assets";
import type { MediaTools } from "../jobs/media-tools";
import type { CoreNeeds } from "../needs";

/** `userId`: who asks. Times are in seconds. `seek`: where playback starts; null if it comes from the piece before. */
export type PieceOfAsset = {
  userId: string;
  asset: Asset;
  facts: PreviewFacts;
  from: number;
  to: number;
  seek: number | null;
  signal: AbortSignal;
};

export type Pieces = {
  /**
   * Returns the chunks of a piece as fragmented MP4, and `release`, to be called when they are sent. Errors: `AppError` `not_found` without such
   * a track, `upstream_unavailable` when too many encodings are queued or too much waits to be sent, `processing_failed`; the signal's reason.
   */
  read(track: "video" | "audio", piece: PieceOfAsset): Promise<{ chunks: AsyncGenerator<Uint8Array>; release(): void }>;
  /** Ends the idle processes. */
  stop(): void;
};

const MAX_CACHE_BYTES = 64 * 1024 ** 2;
const MAX_RUNNING = 3;
/** One slot is left for other workspaces. */
const MAX_RUNNING_PER_WORKSPACE = 2;
const MAX_WAITING = 128;
const MAX_WAITING_PER_WORKSPACE = 32;
const MAX_WAIT_MS = 15_000;
const RETRY_AFTER_SECONDS = 2;
/** Maximum size of unsent heads and chunks: a client may read slowly, or not at all. */
const MAX_UNSENT_BYTES = 512 * 1024 ** 2;
const MAX_UNSENT_BYTES_PER_USER = 128 * 1024 ** 2;

const tooMany = (what: string): AppError =>
  new AppError("upstream_unavailable", `Too many pieces are being ${what}. Try again later.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/** Creates the service that encodes pieces on this server. */
export function createPieces(tools: Pick<MediaTools, "ffmpeg" | "sandbox">, { folders }: CoreNeeds): Pieces {
  const cache = createByteCache<EncodedHead>(MAX_CACHE_BYTES);
  const encoders = createHeadEncoders(tools);
  const unsent = createByteBudget({ maxBytes: MAX_UNSENT_BYTES, maxBytesPerKey: MAX_UNSENT_BYTES_PER_USER });
  const semaphore = createFairSemaphore({
    maxRunning: MAX_RUNNING,
    maxRunningPerKey: MAX_RUNNING_PER_WORKSPACE,
    maxWaiting: MAX_WAITING,
    maxWaitingPerKey: MAX_WAITING_PER_WORKSPACE,
    maxWaitMs: MAX_WAIT_MS,
  });

  async function readHead(
    { asset, signal }: PieceOfAsset,
    version: string,
    request: HeadRequest,
  ): Promise<EncodedHead> {
    const key = `${asset.id} ${version} ${request.id}`;
    const known = cache.get(key);
    if (known) return known;
    const video = asset.info?.video;
    if (!video) throw new AppError("not_found", "Asset has no video.");
    const encode = () => {
      // The client may have disconnected while it waited.
      signal.throwIfAborted();
      return encoders.encode(video, request, signal);
    };
    const head = await semaphore.run(asset.workspace_id, encode).catch((error) => {
      throw error instanceof SemaphoreFullError ? tooMany("encoded") : error;
    });
    const bytes = head.samples.reduce((sum, sample) => sum + sample.byteLength, 0);
    cache.set(key, head, bytes);
    return head;
  }

  async function locateParts(
    kind: "video" | "audio",
    piece: PieceOfAsset,
    reserve: (bytes: number) => void,
  ): Promise<PiecePart[]> {
    const track = piece.facts[kind];
    if (track === null) throw new AppError("not_found", `Asset has no ${kind}.`);
    const { preview, previewIndex: index } = folders.media(piece.asset.id);
    const request = { preview, index, track, from: piece.from, to: piece.to, reserve };
    if (kind === "audio") return createAudioPiece(request);
    const version = String(Bun.file(preview).lastModified);
    const parts =
      piece.seek === null
        ? await createVideoPiece(request, (head) => readHead(piece, version, head))
        : await createSeekPiece({ ...request, seek: piece.seek });
    // A user who plays a cut may edit it next.
    if (piece.asset.info?.video) encoders.prepare(piece.asset.info.video);
    return parts;
  }

  return {
    read: async (kind, piece) => {
      const taken: (() => void)[] = [];
      const release = () => {
        for (const giveBack of taken.splice(0)) giveBack();
      };
      const reserve = (bytes: number) => {
        const giveBack = unsent.take(piece.userId, bytes);
        if (giveBack === null) throw tooMany("sent");
        taken.push(giveBack);
      };
      try {
        reserve(CHUNK_BYTES);
        const parts = await locateParts(kind, piece, reserve);
        return { chunks: readParts(folders.media(piece.asset.id).preview, parts), release };
      } catch (error) {
        release();
        throw error;
      }
    },
    stop: encoders.stop,
  };
}
