/** Proves that a spliced file decodes at its joins: elsewhere it is the source, packet by packet. */
import type { SpliceSegment } from "../../domain/smart-plan";
import { TICKS_PER_SECOND } from "../../domain/time";
import { buildPassthroughArguments, formatSeconds, QUIET_ARGUMENTS } from "../arguments";
import { createWorkLimits, type Ffmpeg, PROGRESS_ARGUMENTS, tryFfmpeg } from "../ffmpeg";

/** Output frames `[from, to)`; `from` is one at which decoding can begin. */
export type CheckWindow = { from: number; to: number };

/** Frames looked at after a join; the first of them settle what a decoder holds back. */
const FRAMES_AFTER_SPLICE = 12;
/** Joins of one kind are all alike: so many of each are looked at, and in this order, so that the first few lie far from each other. */
const SAMPLING_ORDER = [0, 3, 5, 1, 4, 2];
const MIN_CHECKED_FRAMES = 100;
/** So much is decoded to come to a join. */
const MAX_FRAMES_BEFORE_SPLICE = 600;
const MAX_CHECKED_SHARE = 0.04;

/**
 * The stretches around joins that are worth decoding: of each kind of join some, spread over the output, the shortest of its neighbours,
 * until a share of the output is reached. `startBefore` gives the last frame at or before one, within a copy, at which decoding can begin.
 * Pure.
 */
export function planCheckWindows(
  pieces: readonly SpliceSegment[],
  startBefore: (frame: number) => number,
): CheckWindow[] {
  const kinds = [...groupWindowsByKind(pieces, startBefore).values()].map(selectSpreadWindows);
  const frameCount = pieces.reduce((sum, { from, to }) => sum + to - from, 0);
  const budget = Math.max(MIN_CHECKED_FRAMES, frameCount * MAX_CHECKED_SHARE);
  const chosen: CheckWindow[] = [];
  let frames = 0;
  for (const n of SAMPLING_ORDER) {
    if (frames >= budget) break;
    for (const window of kinds.flatMap((windows) => windows[n] ?? [])) {
      chosen.push(window);
      frames += window.to - window.from;
    }
  }
  return mergeWindows(chosen);
}

/** The windows of all joins, by what is joined to what. */
function groupWindowsByKind(
  pieces: readonly SpliceSegment[],
  startBefore: (frame: number) => number,
): Map<string, CheckWindow[]> {
  const kinds = new Map<string, CheckWindow[]>();
  let at = 0;
  let before: { piece: SpliceSegment; at: number } | null = null;
  for (const piece of pieces) {
    if (before !== null) {
      const last = before.piece.to - 1;
      const start = before.piece.kind === "copy" ? Math.max(before.piece.from, startBefore(last)) : before.piece.from;
      const near = before.at + start - before.piece.from;
      // Every piece begins anew: where the one before it would take long to decode, the join itself is a beginning.
      const from = at - near > MAX_FRAMES_BEFORE_SPLICE ? at : near;
      const kind = `${before.piece.kind}, ${piece.kind}`;
      const window = { from, to: at + Math.min(FRAMES_AFTER_SPLICE, piece.to - piece.from) };
      const alike = kinds.get(kind);
      if (alike === undefined) kinds.set(kind, [window]);
      else alike.push(window);
    }
    before = { piece, at };
    at += piece.to - piece.from;
  }
  return kinds;
}

/** The shortest window of each of a few even runs. */
function selectSpreadWindows(windows: readonly CheckWindow[]): CheckWindow[] {
  const count = Math.min(SAMPLING_ORDER.length, windows.length);
  return Array.from({ length: count }, (_, n) => {
    const run = windows.slice(Math.floor((n * windows.length) / count), Math.floor(((n + 1) * windows.length) / count));
    return run.reduce((best, window) => (window.to - window.from < best.to - best.from ? window : best));
  });
}

/** In order, those that overlap as one. */
function mergeWindows(windows: readonly CheckWindow[]): CheckWindow[] {
  const result: CheckWindow[] = [];
  for (const window of windows.toSorted((a, b) => a.from - b.from)) {
    const previous = result.at(-1);
    if (previous !== undefined && window.from < previous.to) previous.to = Math.max(previous.to, window.to);
    else result.push({ ...window });
  }
  return result;
}

/** The concat demuxer's list of the windows of one file; `times` are those of the output's frames, seconds. Pure. */
export function formatConcatList(path: string, windows: readonly CheckWindow[], times: Float64Array): string {
  const quoted = `'${path.replaceAll("'", "'\\''")}'`;
  const seconds = (n: number) => formatSeconds(times[n]! * TICKS_PER_SECOND);
  const lines = windows.map(({ from, to }) => `file ${quoted}\ninpoint ${seconds(from)}\noutpoint ${seconds(to)}`);
  return `ffconcat version 1.0\n${lines.join("\n")}\n`;
}

/** Decodes the windows of a list, and returns what the decoder complains of; null when it does not. */
export async function decodeCheckWindows(options: {
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
        ...[...QUIET_ARGUMENTS, ...PROGRESS_ARGUMENTS],
        "-protocol_whitelist",
        "file,pipe",
        "-format_whitelist",
        "concat,mov",
        "-f",
        "concat",
        "-safe",
        "0",
      ],
      ...[
        "-skip_loop_filter",
        "all",
        "-threads",
        "1",
        "-i",
        `file:${options.listPath}`,
        "-map",
        "0:v:0",
        "-vf",
        "setpts=N/TB",
      ],
      ...[...buildPassthroughArguments(options.ffmpeg.libavutil), "-f", "null", "-"],
    ],
    limits: createWorkLimits(600),
    onLine: (line) => complaints.push(line),
    onProgress: ({ frames }) => options.onFrames?.(frames),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  if (outcome.ok && complaints.length === 0) return null;
  // Without the place in memory of whoever complains.
  return (complaints[0] ?? outcome.message).replace(/\[(\S+) @ 0x[0-9a-f]+\] /g, "$1: ");
}
