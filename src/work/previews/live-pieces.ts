/**
 * Pieces that are encoded from the source on request. Those that a user is about to hear and see come before renders; what a workspace asks
 * for beyond that comes after everything else, so that a user who opens many recordings delays nobody.
 */
import { AppError } from "../../domain/errors";
import { createByteCache } from "../../lib/byte-cache";
import { createFairSemaphore, type FairSemaphore, SemaphoreFullError } from "../../lib/fair-semaphore";
import { createWindowLimit } from "../../lib/window-limit";
import { hasZscaleFilter } from "../../media/chunks/scale";
import { isHdr } from "../../media/color";
import { encodeLiveAudio, encodeLiveVideo } from "../../media/preview/live";
import type { Asset } from "../../store/assets";
import type { MediaTools } from "../jobs/media-tools";

/** `path` is that of the source. Times are in seconds. */
export type LivePiece = { asset: Asset; path: string; from: number; to: number; signal: AbortSignal };

export type LivePieces = {
  /** Returns fragmented MP4. Errors: `AppError` `not_found` without such a track, `upstream_unavailable`, `processing_failed`; the signal's reason. */
  read(track: "video" | "audio", piece: LivePiece): Promise<Uint8Array>;
};

const MAX_CACHE_BYTES = 64 * 1024 ** 2;
const MAX_WAITING = 128;
const MAX_WAITING_PER_WORKSPACE = 32;
const MAX_WAIT_MS = 15_000;
const RETRY_AFTER_SECONDS = 2;
/**
 * Seconds of video, and of audio, that a workspace gets before renders in `WINDOW_MS`: playback at one and a half times
 * the speed. With a longer window, fifty pages that open at once would take a minute's share in a row.
 */
const MAX_PREFERRED_SECONDS = 15;
const WINDOW_MS = 10_000;

/** Maximum number of encodings at the same time. One slot is left for other workspaces. */
const INTERACTIVE = { maxRunning: 3, maxRunningPerKey: 2 };
const BACKGROUND = { maxRunning: 1, maxRunningPerKey: 1 };

/** Creates the semaphore of encodings that somebody waits for. Keys are workspaces. */
export const createEncodingSemaphore = (limits = INTERACTIVE): FairSemaphore =>
  createFairSemaphore({
    ...limits,
    maxWaiting: MAX_WAITING,
    maxWaitingPerKey: MAX_WAITING_PER_WORKSPACE,
    maxWaitMs: MAX_WAIT_MS,
  });

export const createBusyError = (what: string): AppError =>
  new AppError("upstream_unavailable", `Too many pieces are being ${what}. Try again later.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/** Runs an encoding in its turn, unless the client has disconnected while it waited. */
export const runInTurn = <Result>(
  semaphore: FairSemaphore,
  { asset, signal }: Pick<LivePiece, "asset" | "signal">,
  encode: () => Promise<Result>,
): Promise<Result> =>
  semaphore
    .run(asset.workspace_id, () => {
      signal.throwIfAborted();
      return encode();
    })
    .catch((error) => {
      throw error instanceof SemaphoreFullError ? createBusyError("encoded") : error;
    });

/** Creates the encoder. `interactive` is shared with other encodings that somebody waits for. */
export function createLivePieces(
  tools: Pick<MediaTools, "ffmpeg" | "sandbox">,
  interactive: FairSemaphore,
  now: () => number = Date.now,
): LivePieces {
  const cache = createByteCache<Uint8Array>(MAX_CACHE_BYTES);
  const background = createEncodingSemaphore(BACKGROUND);
  const preferred = createWindowLimit(MAX_PREFERRED_SECONDS, WINDOW_MS);

  /** Returns whether the workspace has not had its share of the track, and counts the piece. */
  function isPreferred(track: "video" | "audio", { asset, from, to }: LivePiece): boolean {
    const key = `${track} ${asset.workspace_id}`;
    if (preferred.waitMs(key, now()) > 0) return false;
    for (let second = from; second < to; second++) preferred.add(key, now());
    return true;
  }

  async function encode(track: "video" | "audio", piece: LivePiece): Promise<Uint8Array> {
    const { asset, signal } = piece;
    const { info } = asset;
    const isMissing = info === null || (track === "video" ? info.video === null : info.audio.length === 0);
    if (isMissing) throw new AppError("not_found", `Asset has no ${track}.`);
    const request = { ...piece, info };
    const hasZscale = info.video !== null && isHdr(info.video) && (await hasZscaleFilter(tools.ffmpeg));
    const isFirst = isPreferred(track, piece);
    const priority = isFirst ? "interactive" : "lowest";
    return runInTurn(isFirst ? interactive : background, piece, () =>
      track === "audio"
        ? encodeLiveAudio({ ...tools, priority }, request, signal)
        : encodeLiveVideo({ ...tools, hasZscale, priority }, request, signal),
    );
  }

  return {
    read: async (track, piece) => {
      const key = `${piece.asset.id} ${track} ${piece.from} ${piece.to}`;
      const known = cache.get(key);
      if (known) return known;
      const bytes = await encode(track, piece);
      cache.set(key, bytes, bytes.length);
      return bytes;
    },
  };
}
