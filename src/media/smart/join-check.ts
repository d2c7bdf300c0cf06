/** Proves that a spliced file decodes at its joins: elsewhere it is the source, packet by packet. */
import type { SmartPiece } from "../../domain/smart-plan";
import { TICKS_PER_SECOND } from "../../domain/time";
import { passFramesThrough, QUIET, secondsText } from "../arguments";
import { type Ffmpeg, PROGRESS, tryFfmpeg, workLimits } from "../ffmpeg";

/** Output frames `[from, to)`; `from` is one at which decoding can begin. */
export type Window = { from: number; to: number };

/** Frames looked at after a join; the first of them settle what a decoder holds back. */
const AFTER_FRAMES = 12;
const WINDOWS_MOST = 24;
const FRAMES_LEAST = 150;
const SHARE_MOST = 0.12;

/**
 * The stretches around joins that are worth decoding: spread evenly, until a share of the output is reached. `startBefore` gives the last
 * frame at or before one, within a copy, at which decoding can begin. Pure.
 */
export function joinWindows(pieces: readonly SmartPiece[], startBefore: (frame: number) => number): Window[] {
  const windows: Window[] = [];
  let at = 0;
  let before: { piece: SmartPiece; at: number } | null = null;
  for (const piece of pieces) {
    if (before !== null) {
      const last = before.piece.to - 1;
      const start = before.piece.kind === "copy" ? Math.max(before.piece.from, startBefore(last)) : before.piece.from;
      const from = before.at + start - before.piece.from;
      windows.push({ from, to: at + Math.min(AFTER_FRAMES, piece.to - piece.from) });
    }
    before = { piece, at };
    at += piece.to - piece.from;
  }
  const budget = Math.max(FRAMES_LEAST, at * SHARE_MOST);
  const step = Math.max(1, Math.ceil(windows.length / WINDOWS_MOST));
  const chosen: Window[] = [];
  let frames = 0;
  for (let n = 0; n < windows.length && frames < budget; n += step) {
    const window = windows[n]!;
    const previous = chosen.at(-1);
    if (previous !== undefined && window.from < previous.to) previous.to = Math.max(previous.to, window.to);
    else chosen.push({ ...window });
    frames += window.to - window.from;
  }
  return chosen;
}

/** The concat demuxer's list of the windows of one file; `times` are those of the output's frames, seconds. Pure. */
export function windowList(path: string, windows: readonly Window[], times: Float64Array): string {
  const quoted = `'${path.replaceAll("'", "'\\''")}'`;
  const seconds = (n: number) => secondsText(times[n]! * TICKS_PER_SECOND);
  const lines = windows.map(({ from, to }) => `file ${quoted}\ninpoint ${seconds(from)}\noutpoint ${seconds(to)}`);
  return `ffconcat version 1.0\n${lines.join("\n")}\n`;
}

/** Decodes the windows of a list, and returns what the decoder complains of; null when it does not. */
export async function decodeWindows(options: {
  ffmpeg: Ffmpeg;
  listPath: string;
  signal?: AbortSignal;
  onFrames?: (frames: number) => void;
}): Promise<string | null> {
  const complaints: string[] = [];
  const outcome = await tryFfmpeg({
    ffmpeg: options.ffmpeg,
    arguments: [
      ...[
        ...[...QUIET, ...PROGRESS],
        "-protocol_whitelist",
        "file,pipe",
        "-format_whitelist",
        "concat,mov",
        "-f",
        "concat",
        "-safe",
        "0",
      ],
      ...["-skip_loop_filter", "all", "-i", `file:${options.listPath}`, "-map", "0:v:0", "-vf", "setpts=N/TB"],
      ...[...passFramesThrough(options.ffmpeg.libavutil), "-f", "null", "-"],
    ],
    limits: workLimits(600),
    onLine: (line) => complaints.push(line),
    onProgress: ({ frames }) => options.onFrames?.(frames),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  if (outcome.ok && complaints.length === 0) return null;
  return complaints[0] ?? outcome.message;
}
