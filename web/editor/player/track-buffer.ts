/** A track's `SourceBuffer`. Operations run one at a time. Times are microseconds of the cut. */
import { fromSeconds, toSeconds } from "../model/plan";
import type { Section } from "./load-piece";
import { findPieceIndex, type Piece } from "./timeline";

export type Track = "video" | "audio";

/** Amounts of media in the buffers around the playhead, in microseconds. */
export const AHEAD = 30_000_000;
/** Minimum and maximum amount of media to keep behind the playhead. */
export const MIN_BEHIND = 20_000_000;
export const MAX_BEHIND = 40_000_000;
/** Minimum while the buffer is full. A removal extends to the next keyframe, which must not be after the playhead. */
export const MIN_BEHIND_WHEN_FULL = 1_000_000;
/**
 * Duration that the browser has already decoded, at normal speed. An edit within it becomes audible only after a seek.
 */
export const DECODED = 300_000;
/** Duration from the playhead on that is not replaced when the preview takes the place of the source. */
export const KEPT_AHEAD = 1_000_000;
/** Maximum distance between the playhead and a likely edit for which pieces are preloaded. */
export const MAX_PREPARED_DISTANCE = 10_000_000;
/**
 * Duration that is loaded first after a jump, at normal speed. `MIN_LANDING` is the part of a piece that must remain
 * for the following pieces to be delayed.
 */
export const LANDING = 1_500_000;
export const MIN_LANDING = 1_000_000;

/**
 * Tolerance for rounding: a video frame that exceeds the window slightly would be dropped as a whole. Audio is trimmed
 * to the sample instead.
 */
const VIDEO_SLACK_SECONDS = 0.002;
/**
 * The first frame of the stream is moved this far from its start, because times are rounded and a frame before 0 would
 * be dropped with all others up to the next keyframe. A seek lands later.
 */
const VIDEO_LEAD_SECONDS = 0.0001;

/** The last frame of a piece may end this much early. */
const END_TOLERANCE = 100_000;

/** Thrown when the browser's buffer is full. */
export class BufferFullError extends Error {}

export class TrackBuffer {
  constructor(
    readonly track: Track,
    private readonly buffer: SourceBuffer,
    private type: string,
  ) {}

  /** Start of the oldest buffered data, or null. */
  get start(): number | null {
    const { buffered } = this.buffer;
    return buffered.length === 0 ? null : fromSeconds(buffered.start(0));
  }

  /** Appends the sections of a piece at its position. Throws `BufferFullError`. */
  async append(piece: Piece, sections: readonly Section[]): Promise<void> {
    for (const section of sections) await this.appendSection(piece, section);
  }

  private async appendSection({ start, end, at }: Piece, { type, bytes }: Section): Promise<void> {
    const { buffer } = this;
    // Decoders adapt to other parameters of the same codec.
    if (getCodec(type) !== getCodec(this.type)) buffer.changeType(type);
    this.type = type;
    const isVideo = this.track === "video";
    const slack = isVideo ? VIDEO_SLACK_SECONDS : 0;
    const lead = isVideo && at === 0 ? VIDEO_LEAD_SECONDS : 0;
    // The start of the window must never exceed its end.
    buffer.appendWindowEnd = Number.POSITIVE_INFINITY;
    buffer.appendWindowStart = Math.max(0, toSeconds(at) - slack);
    buffer.appendWindowEnd = toSeconds(at + end - start) + slack;
    buffer.timestampOffset = toSeconds(at - start) + lead;
    try {
      buffer.appendBuffer(bytes);
    } catch (error) {
      if (error instanceof DOMException && error.name === "QuotaExceededError") throw new BufferFullError();
      throw error;
    }
    await this.settle();
  }

  /** Returns whether data is buffered up to shortly before the end of a piece. */
  hasEnd({ start, end, at }: Piece): boolean {
    const { buffered } = this.buffer;
    const place = toSeconds(at + Math.max((end - start) / 2, end - start - END_TOLERANCE));
    for (let n = 0; n < buffered.length; n++) if (buffered.start(n) <= place && place <= buffered.end(n)) return true;
    return false;
  }

  /** Removes the range from `from` to `to`. This reopens an ended stream. */
  async remove(from: number, to: number, duration: number): Promise<void> {
    const start = Math.max(0, Math.min(toSeconds(from), duration));
    const end = to === Number.POSITIVE_INFINITY ? to : toSeconds(to);
    if (end <= start) return;
    this.buffer.remove(start, end);
    await this.settle();
  }

  private settle(): Promise<void> {
    const { buffer } = this;
    return new Promise((resolve, reject) => {
      if (!buffer.updating) return resolve();
      let hasFailed = false;
      const onError = () => {
        hasFailed = true;
      };
      const onEnd = () => {
        buffer.removeEventListener("error", onError);
        buffer.removeEventListener("updateend", onEnd);
        if (hasFailed) reject(new Error("The preview could not be decoded. Reload the page."));
        else resolve();
      };
      buffer.addEventListener("error", onError);
      buffer.addEventListener("updateend", onEnd);
    });
  }
}

/** Returns the codec of a MIME type without its parameters: `avc1`. */
const getCodec = (type: string): string => /codecs="([\w-]+)/.exec(type)?.[1] ?? type;

/**
 * Appends the sections of each track at its position. Waits for all buffers, even if one is full,
 * because a buffer cannot be changed during another operation. Throws `BufferFullError`.
 */
export async function appendToAll(
  tracks: readonly TrackBuffer[],
  pieces: Record<Track, Piece>,
  loaded: readonly (readonly Section[])[],
): Promise<void> {
  const appended = tracks.map((track, index) => track.append(pieces[track.track], loaded[index] ?? []));
  const results = await Promise.allSettled(appended);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

type BufferedPieces = {
  audio: TrackBuffer;
  pieces: readonly Piece[];
  /** Index of the first piece that is not appended. */
  next: number;
  duration: number;
  /** Returns the earliest position whose audio can still be replaced. */
  getStart(): number;
  load(piece: Piece): Promise<Section[]>;
  /** Removes all tracks from a piece on, which is then appended again. */
  dropFrom(piece: number, at: number): Promise<void>;
};

/**
 * Replaces the audio that is buffered from the playhead on, without a gap: of the piece that is playing when its other
 * audio is loaded. Later pieces are dropped.
 */
export async function replaceAudio(buffered: BufferedPieces): Promise<void> {
  const { audio, pieces, next, duration, getStart, load, dropFrom } = buffered;
  for (;;) {
    const index = findPieceIndex(pieces, getStart());
    const piece = pieces[index];
    if (piece === undefined || index >= next) return;
    const sections = await load(piece);
    const end = piece.at + piece.end - piece.start;
    const at = Math.max(piece.at, getStart());
    // Playback has reached the next piece in the meantime.
    if (at >= end && index + 1 < pieces.length) continue;
    await dropFrom(index + 1, end);
    if (at >= end) return;
    await audio.remove(at, end, duration);
    return await audio.append({ start: piece.start + at - piece.at, end: piece.end, at }, sections);
  }
}
