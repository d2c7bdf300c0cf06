/** Replaces the audio that is buffered from the playhead on, without a gap. Times are microseconds of the cut. */
import type { Section } from "./load-piece";
import { findPieceIndex, type Piece } from "./timeline";
import type { TrackBuffer } from "./track-buffer";

export type BufferedPieces = {
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

/** Replaces the audio of the piece that is playing when the other audio of it is loaded. Later pieces are dropped. */
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
