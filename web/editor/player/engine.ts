/** The interface of an engine that plays pieces on a video element. Times are in microseconds. */
import type { NoiseReduction } from "../../../src/domain/media";
import type { Delay } from "./load-piece";
import type { Piece } from "./timeline";
import type { Track } from "./track-buffer";

/** Source of a track's packets: the preview is smaller, and encoded on request while it is not ready. */
export type Variant = "preview" | "source";

/** Noise reduction of the audio. */
export type CleanMode = NoiseReduction;

/** The playable media of a recording. */
export type PlayableMedia = {
  /**
   * Returns the address of a part of the recording as fragmented MP4, with times of the recording. Times are in
   * seconds. `seek`: media before this time is optional, so that a player that seeks there receives it sooner. `clean`:
   * with reduced noise, for audio.
   */
  pieceUrl(
    track: Track,
    variant: Variant,
    from: number,
    to: number,
    more: { seek?: number; clean?: CleanMode },
  ): string;
  previewUrl: string;
  /** MIME types of the preview with codecs; null for a track that the recording lacks. */
  videoType: string | null;
  audioType: string | null;
  /** MIME types of the source; null for a track that this browser cannot decode. */
  sourceTypes: Record<Track, string | null>;
  isPreviewReady: boolean;
  /** Whether the browser turns the frames of the source. Those of the preview are upright. */
  isTurned: boolean;
  /** Times of keyframes of the source at which its pieces start, in microseconds. */
  sourceLines: readonly number[];
  /** Frames per second; null without video. */
  frameRate: number | null;
};

export type EngineReport = {
  /** Called with the reason why the next piece is delayed, and with null when it has arrived. */
  onDelay(delay: Delay | null): void;
  onError(error: unknown): void;
};

export type Engine = {
  /** The pieces that are playing, and the position in them. Both change together. */
  readonly pieces: readonly Piece[];
  readonly cutTime: number;
  /**
   * Number of requested positions that wait for a change of pieces. Until it is 0, `cutTime` may be the position before
   * them.
   */
  readonly openSeeks: number;
  /** Seeks to a source time; in a removed span, to the start of the next kept one. */
  seek(sourceTime: number): void;
  /** Plays other pieces, starting at a source time. Without one, playback continues at the playhead. */
  show(pieces: readonly Piece[], sourceTime?: number): void;
  /** Preloads the data that would be needed first if these pieces were played instead. */
  prepare(pieces: readonly Piece[]): void;
  /** Preloads whole pieces that are likely to be shown next. */
  preload(pieces: readonly Piece[]): void;
  /** Plays the preview of the video from now on, without a seek. */
  usePreview(): void;
  /** Plays audio with reduced noise, or as it was recorded, from now on, without a seek or a gap. */
  setClean(mode: CleanMode | null): void;
  dispose(): void;
};
