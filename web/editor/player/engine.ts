/** What plays pieces on an element. Times are microseconds. */
import type { Delay } from "./load-piece";
import type { Piece } from "./timeline";
import type { Track } from "./track-buffer";

/** What of a recording can be played. */
export type PlayableMedia = {
  /**
   * The address of a part of the preview as fragmented MP4, with times of the recording. Times are seconds. `seek`: what is before this place
   * need not be there, and a player that seeks to it gets it sooner.
   */
  pieceUrl(track: Track, from: number, to: number, seek?: number): string;
  previewUrl: string;
  /** MIME types with codecs; null for a track that the recording lacks. */
  videoType: string | null;
  audioType: string | null;
  /** Frames a second; null without video. */
  frameRate: number | null;
};

export type EngineReport = {
  /** Why the next piece has not come yet; null when it has. */
  onDelay(delay: Delay | null): void;
  onError(error: unknown): void;
};

export type Engine = {
  /** What plays now, and where it is. They change together. */
  readonly pieces: readonly Piece[];
  readonly cutTime: number;
  /** Goes to a source time; in a removed span, to where the next kept one starts. */
  seek(sourceTime: number): void;
  /** Plays other pieces from a source time on; without one, from where the playhead is. */
  show(pieces: readonly Piece[], sourceTime?: number): void;
  /** Loads what would be needed next if these pieces played instead. */
  prepare(pieces: readonly Piece[]): void;
  dispose(): void;
};
