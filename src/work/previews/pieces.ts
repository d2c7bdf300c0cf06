/**
 * Pieces of previews and of sources on request. Caches the encoded pieces; workspaces take turns with a few encodings
 * at a time.
 */
import { AppError } from "../../domain/errors";
import type { NoiseReduction } from "../../domain/media";
import { PREVIEW_TYPES, type PreviewFacts, type SourceFacts } from "../../domain/preview";
import { createByteBudget } from "../../lib/byte-budget";
import { createByteCache } from "../../lib/byte-cache";
import type { EncodedHead } from "../../media/preview/head";
import { createHeadEncoders } from "../../media/preview/head-encoders";
import { createAudioPiece, createSeekPiece, createVideoPiece, type HeadRequest } from "../../media/preview/piece";
import { CHUNK_BYTES, type PiecePart, readParts } from "../../media/preview/read-parts";
import { createSourcePiece } from "../../media/preview/source-piece";
import type { Asset } from "../../store/assets";
import { hasSpeechAnalysis } from "../assets/prepared-files";
import type { CoreNeeds } from "../needs";
import { createBusyError, createEncodingTurns } from "./encoding-turns";
import { createLivePieces, type PieceTools } from "./live-pieces";

/**
 * `userId`: the user who requests the piece. `variant`: whether the packets are those of the source. `facts`: null
 * while there is no preview; its pieces are then encoded on request. `noiseReduction`: of audio, which is then encoded.
 * Times are in seconds. `seek`: where playback starts; null if it comes from the piece before.
 */
export type PieceOfAsset = {
  userId: string;
  asset: Asset;
  variant: PieceVariant;
  facts: PreviewFacts | null;
  source: SourceFacts;
  from: number;
  to: number;
  seek: number | null;
  noiseReduction: NoiseReduction | null;
  signal: AbortSignal;
};

export const PIECE_VARIANTS = ["preview", "source"] as const;
export type PieceVariant = (typeof PIECE_VARIANTS)[number];

/** A section of a piece that has one MIME type. A player has to change the type of its buffer between two sections. */
export type PieceSection = { type: string; bytes: number };

/** The longest head of a preview: it has a keyframe each half second. */
const HEAD_SECONDS = 0.5;
const MAX_CACHE_BYTES = 64 * 1024 ** 2;
/** Maximum size of unsent heads and chunks: a client may read slowly, or not at all. */
const MAX_UNSENT_BYTES = 512 * 1024 ** 2;
const MAX_UNSENT_BYTES_PER_USER = 128 * 1024 ** 2;

export type Pieces = ReturnType<typeof createPieces>;

export function createPieces(tools: PieceTools, { folders }: CoreNeeds) {
  const cache = createByteCache<EncodedHead>(MAX_CACHE_BYTES);
  const encoders = createHeadEncoders(tools);
  const unsent = createByteBudget({ maxBytes: MAX_UNSENT_BYTES, maxBytesPerKey: MAX_UNSENT_BYTES_PER_USER });
  const turns = createEncodingTurns();
  const live = createLivePieces(tools, turns);

  async function readHead(piece: PieceOfAsset, version: string, request: HeadRequest): Promise<EncodedHead> {
    const { asset, signal } = piece;
    const key = `${asset.id} ${version} ${request.id}`;
    const known = cache.get(key);
    if (known) return known;
    const video = asset.info?.video;
    if (!video) throw new AppError("not_found", "Asset has no video.");
    const head = await turns.run({ asset, signal, seconds: HEAD_SECONDS }, (run) =>
      encoders.encode(video, request, signal, run),
    );
    const bytes = head.samples.reduce((sum, sample) => sum + sample.byteLength, 0);
    cache.set(key, head, bytes);
    return head;
  }

  /** Encodes a part of the source as the preview will have it. */
  async function readLive(
    kind: Track,
    { asset, signal, noiseReduction }: PieceOfAsset,
    span: { from: number; to: number; isCoded?: boolean },
    reserve: (bytes: number) => void,
  ): Promise<Section> {
    const folder = folders.media(asset.id);
    const hasSpeech = noiseReduction !== null && (await hasSpeechAnalysis(folder));
    const bytes = await live.read(kind, {
      asset,
      path: folder.source,
      speechAnalysis: hasSpeech ? folder.speechAnalysis : null,
      ...span,
      noiseReduction,
      signal,
    });
    reserve(bytes.length);
    return { type: PREVIEW_TYPES[kind], parts: [bytes] };
  }

  async function locatePreview(
    kind: Track,
    piece: PieceOfAsset,
    facts: PreviewFacts,
    reserve: (bytes: number) => void,
  ): Promise<Section[]> {
    const track = facts[kind];
    if (track === null) throw new AppError("not_found", `Asset has no ${kind}.`);
    const { preview, previewIndex: index } = folders.media(piece.asset.id);
    const request = { media: preview, index, track, from: piece.from, to: piece.to, reserve };
    const type = track.mimeType;
    if (kind === "audio") return [{ type, parts: await createAudioPiece(request) }];
    const version = String(Bun.file(preview).lastModified);
    const parts =
      piece.seek === null
        ? await createVideoPiece(request, (head) => readHead(piece, version, head))
        : await createSeekPiece({ ...request, seek: piece.seek });
    // A user who plays a cut may edit it next.
    if (piece.asset.info?.video) encoders.prepare(piece.asset.info.video);
    return [{ type, parts }];
  }

  async function locateSource(kind: Track, piece: PieceOfAsset, reserve: (bytes: number) => void): Promise<Section[]> {
    const { source: media, sourceIndex: index } = folders.media(piece.asset.id);
    const { from, to, seek, source } = piece;
    if (source[kind] === null) throw new AppError("not_found", `Source has no ${kind} that browsers can play.`);
    if (kind === "audio" || source.video === null) {
      const track = source.audio!;
      return [{ type: track.mimeType, parts: await createAudioPiece({ media, index, track, from, to }) }];
    }
    const track = source.video;
    const { head, parts } = await createSourcePiece({ media, index, track, from, to, seek });
    const sections = parts.length === 0 ? [] : [{ type: track.mimeType, parts }];
    if (head === null) return sections;
    // While one of the two is turned and the other is not, browsers show frames of the one like those of the other.
    return [await readLive(kind, piece, { ...head, isCoded: track.rotation !== 0 }, reserve), ...sections];
  }

  function locateSections(kind: Track, piece: PieceOfAsset, reserve: (bytes: number) => void): Promise<Section[]> {
    if (kind === "audio" && piece.noiseReduction !== null)
      return readLive(kind, piece, { from: piece.from, to: piece.to }, reserve).then((section) => [section]);
    if (piece.variant === "source") return locateSource(kind, piece, reserve);
    if (piece.facts !== null) return locatePreview(kind, piece, piece.facts, reserve);
    const from = kind === "video" ? (piece.seek ?? piece.from) : piece.from;
    return readLive(kind, piece, { from, to: piece.to }, reserve).then((section) => [section]);
  }

  return {
    /**
     * Returns the chunks of a piece as fragmented MP4, its sections, and `release`, to be called when they are sent.
     * Errors: `AppError` `not_found` without such a track, `upstream_unavailable` when too many encodings are queued or
     * too much waits to be sent, `processing_failed`; the signal's reason.
     */
    read: async (kind: Track, piece: PieceOfAsset) => {
      const taken: (() => void)[] = [];
      const release = () => {
        for (const giveBack of taken.splice(0)) giveBack();
      };
      const reserve = (bytes: number) => {
        const giveBack = unsent.take(piece.userId, bytes);
        if (giveBack === null) throw createBusyError("sent");
        taken.push(giveBack);
      };
      try {
        reserve(CHUNK_BYTES);
        const located = await locateSections(kind, piece, reserve);
        const { preview, source } = folders.media(piece.asset.id);
        const isPreview = piece.variant === "preview" && piece.facts !== null;
        const parts = located.flatMap((section) => section.parts);
        const chunks = readParts(isPreview ? preview : source, parts);
        return { chunks, sections: located.map(describeSection), release };
      } catch (error) {
        release();
        throw error;
      }
    },
    /** Ends the idle processes. */
    stop: encoders.stop,
  };
}

type Track = "video" | "audio";
type Section = { type: string; parts: PiecePart[] };

const describeSection = ({ type, parts }: Section): PieceSection => ({
  type,
  bytes: parts.reduce((sum, { length }) => sum + length, 0),
});
