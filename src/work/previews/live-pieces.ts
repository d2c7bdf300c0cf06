/** Pieces that are encoded from the source on request. Caches them. */
import { AppError } from "../../domain/errors";
import type { MediaInfo, NoiseReduction } from "../../domain/media";
import { createByteCache } from "../../lib/byte-cache";
import { hasZscaleFilter } from "../../media/chunks/scale";
import { isHdr } from "../../media/color";
import { UNSEEN_SECONDS } from "../../media/preview/cpu-seconds";
import { encodeLiveAudio, encodeLiveVideo, toAudioPiece } from "../../media/preview/live";
import type { Asset } from "../../store/assets";
import { openJobChild } from "../job-child/child";
import { toMediaOptions } from "../job-child/plan-child";
import type { MediaTools } from "../jobs/media-tools";
import type { EncodingRun, EncodingTurns } from "./encoding-turns";

/**
 * `path` is that of the source. Times are in seconds. `isCoded`: for a player that turns the frames of the source, too.
 */
export type LivePiece = {
  asset: Asset;
  path: string;
  from: number;
  to: number;
  isCoded?: boolean;
  /** Noise reduction of audio. Null: as recorded. */
  noiseReduction: NoiseReduction | null;
  /** The path of the speech analysis, for noise reduction; null until it exists. */
  speechAnalysis: string | null;
  signal: AbortSignal;
};

/** Processor time of ffmpeg for a second of audio, which it decodes and encodes for the child. */
const FFMPEG_COST = 0.02;

const MAX_CACHE_BYTES = 64 * 1024 ** 2;

export type PieceTools = Pick<MediaTools, "ffmpeg" | "sandbox" | "jobCommand" | "maxFileBytes">;

/** Creates the encoder. Other encodings that somebody waits for have the same turns. */
export function createLivePieces(tools: PieceTools, turns: EncodingTurns) {
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
      track === "video"
        ? encodeLiveVideo({ ...tools, hasZscale, ...run }, request, signal)
        : piece.noiseReduction === null
          ? encodeLiveAudio({ ...tools, ...run }, request, signal)
          : toAudioPiece(request, (span) => encodeClean(tools, run, { ...piece, info, ...span })),
    );
  }

  return {
    /**
     * Returns fragmented MP4. Errors: `AppError` `not_found` without such a track, `upstream_unavailable`,
     * `processing_failed`; the signal's reason.
     */
    read: async (track: "video" | "audio", piece: LivePiece): Promise<Uint8Array> => {
      const key = `${piece.asset.id} ${track} ${piece.from} ${piece.to} ${piece.isCoded === true} ${piece.noiseReduction} ${piece.speechAnalysis !== null}`;
      const known = cache.get(key);
      if (known) return known;
      const bytes = await encode(track, piece);
      cache.set(key, bytes, bytes.length);
      return bytes;
    },
  };
}

/** Encodes audio with reduced noise in a child process. Errors: those of `JobChild.run`. */
async function encodeClean(
  tools: PieceTools,
  { priority, onEnd }: EncodingRun,
  { path, speechAnalysis, info, noiseReduction: mode, from, to, signal }: LivePiece & { info: MediaInfo },
): Promise<Uint8Array> {
  await using child = openJobChild({
    ...toMediaOptions(tools, 0),
    view: { readOnly: speechAnalysis === null ? [path] : [path, speechAnalysis], writable: [], devices: false },
    priority,
  });
  let cost: number | null = null;
  try {
    const request = { ffmpeg: tools.ffmpeg, source: path, speechAnalysis, info, mode: mode!, from, to };
    const found = await child.run("cleanAudio", request, { signal });
    cost = found.cpuSeconds;
    return Buffer.from(found.adts, "base64");
  } finally {
    // A child that was aborted or killed, or that failed, reports nothing.
    cost ??= child.readCpuSeconds() + UNSEEN_SECONDS;
    onEnd(cost + (to - from) * FFMPEG_COST);
  }
}
