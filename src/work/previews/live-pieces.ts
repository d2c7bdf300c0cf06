/** Pieces that are encoded from the source on request. Caches them. */
import { AppError } from "../../domain/errors";
import { createByteCache } from "../../lib/byte-cache";
import { hasZscaleFilter } from "../../media/chunks/scale";
import { isHdr } from "../../media/color";
import { encodeLiveAudio, encodeLiveVideo } from "../../media/preview/live";
import type { Asset } from "../../store/assets";
import type { MediaTools } from "../jobs/media-tools";
import type { EncodingTurns } from "./encoding-turns";

/** `path` is that of the source. Times are in seconds. `isCoded`: for a player that turns the frames of the source, too. */
export type LivePiece = {
  asset: Asset;
  path: string;
  from: number;
  to: number;
  isCoded?: boolean;
  signal: AbortSignal;
};

export type LivePieces = {
  /** Returns fragmented MP4. Errors: `AppError` `not_found` without such a track, `upstream_unavailable`, `processing_failed`; the signal's reason. */
  read(track: "video" | "audio", piece: LivePiece): Promise<Uint8Array>;
};

const MAX_CACHE_BYTES = 64 * 1024 ** 2;

/** Creates the encoder. Other encodings that somebody waits for have the same turns. */
export function createLivePieces(tools: Pick<MediaTools, "ffmpeg" | "sandbox">, turns: EncodingTurns): LivePieces {
  const cache = createByteCache<Uint8Array>(MAX_CACHE_BYTES);

  async function encode(track: "video" | "audio", piece: LivePiece): Promise<Uint8Array> {
    const { asset, signal } = piece;
    const { info } = asset;
    const isMissing = info === null || (track === "video" ? info.video === null : info.audio.length === 0);
    if (isMissing) throw new AppError("not_found", `Asset has no ${track}.`);
    const request = { ...piece, info };
    const hasZscale = info.video !== null && isHdr(info.video) && (await hasZscaleFilter(tools.ffmpeg));
    const seconds = piece.to - piece.from;
    return turns.run({ asset, signal, seconds }, (run) =>
      track === "audio"
        ? encodeLiveAudio({ ...tools, ...run }, request, signal)
        : encodeLiveVideo({ ...tools, hasZscale, ...run }, request, signal),
    );
  }

  return {
    read: async (track, piece) => {
      const key = `${piece.asset.id} ${track} ${piece.from} ${piece.to} ${piece.isCoded === true}`;
      const known = cache.get(key);
      if (known) return known;
      const bytes = await encode(track, piece);
      cache.set(key, bytes, bytes.length);
      return bytes;
    },
  };
}
