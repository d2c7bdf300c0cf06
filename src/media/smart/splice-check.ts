/** Checks that a spliced file decodes at its splices. Elsewhere its packets are the source's. */
import type { SpliceSegment } from "../../domain/smart-plan";
import { TICKS_PER_SECOND } from "../../domain/time";
import { buildPassthroughArguments, formatSeconds, QUIET_ARGUMENTS } from "../arguments";
import { createWorkLimits, type Ffmpeg, PROGRESS_ARGUMENTS, tryFfmpeg } from "../ffmpeg";

/** Output frames `[from, to)`; `from` is a random access point. */
export type CheckWindow = { from: number; to: number };

/** Frames decoded after a splice. The first of them flush the decoder's reordering delay. */
const FRAMES_AFTER_SPLICE = 12;
/** Splices of one kind are equivalent, so only these of each are checked, ordered so that the first are far apart. */
const SAMPLING_ORDER = [0, 3, 5, 1, 4, 2];
/** Maximum number of checked splices of one kind if an earlier render has encoded their segments. */
const MAX_KNOWN_WINDOWS = 1;
const MIN_CHECKED_FRAMES = 100;
/** Maximum number of frames decoded to reach a splice. */
const MAX_FRAMES_BEFORE_SPLICE = 600;
const MAX_CHECKED_SHARE = 0.04;

/**
 * Plans the windows to decode: some splices of each kind, spread over the output, the shortest windows among neighbors,
 * until a share of the output is reached. `findRandomAccessFrame` returns the last random access point at or before a
 * frame of a copied segment. `isKnown` returns whether an encoded segment is that of an earlier render. Pure.
 */
export function planCheckWindows(
  segments: readonly SpliceSegment[],
  findRandomAccessFrame: (frame: number) => number,
  isKnown: (segment: SpliceSegment) => boolean = () => false,
): CheckWindow[] {
  const groups = groupWindowsByKind(segments, findRandomAccessFrame, isKnown);
  const kinds = [...groups.values()].map(({ windows, isKnown }) =>
    selectSpreadWindows(windows, isKnown ? MAX_KNOWN_WINDOWS : SAMPLING_ORDER.length),
  );
  const frameCount = segments.reduce((sum, { from, to }) => sum + to - from, 0);
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

/** `isKnown`: all encoded segments at the splices are those of earlier renders. */
type WindowGroup = { windows: CheckWindow[]; isKnown: boolean };

/** Groups the windows of all splices by the kinds of the two segments. */
function groupWindowsByKind(
  segments: readonly SpliceSegment[],
  findRandomAccessFrame: (frame: number) => number,
  isKnown: (segment: SpliceSegment) => boolean,
): Map<string, WindowGroup> {
  const groups = new Map<string, WindowGroup>();
  let at = 0;
  let previous: { segment: SpliceSegment; at: number } | null = null;
  for (const segment of segments) {
    if (previous !== null) {
      const last = previous.segment.to - 1;
      const { from: first, kind } = previous.segment;
      const decodeFrom = kind === "copy" ? Math.max(first, findRandomAccessFrame(last)) : first;
      const start = previous.at + decodeFrom - first;
      // Every segment starts with a random access point. If reaching the splice takes long, the window starts at it.
      const from = at - start > MAX_FRAMES_BEFORE_SPLICE ? at : start;
      const encoded = [previous.segment, segment].filter((one) => one.kind === "encode");
      const areKnown = encoded.length > 0 && encoded.every(isKnown);
      const kinds = `${kind}, ${segment.kind}, ${areKnown}`;
      const window = { from, to: at + Math.min(FRAMES_AFTER_SPLICE, segment.to - segment.from) };
      const sameKind = groups.get(kinds);
      if (sameKind === undefined) groups.set(kinds, { windows: [window], isKnown: areKnown });
      else sameKind.windows.push(window);
    }
    previous = { segment, at };
    at += segment.to - segment.from;
  }
  return groups;
}

/** Returns the shortest window of each of at most `maxCount` equal groups. */
function selectSpreadWindows(windows: readonly CheckWindow[], maxCount: number): CheckWindow[] {
  const count = Math.min(maxCount, windows.length);
  return Array.from({ length: count }, (_, n) => {
    const group = windows.slice(
      Math.floor((n * windows.length) / count),
      Math.floor(((n + 1) * windows.length) / count),
    );
    return group.reduce((best, window) => (window.to - window.from < best.to - best.from ? window : best));
  });
}

function mergeWindows(windows: readonly CheckWindow[]): CheckWindow[] {
  const result: CheckWindow[] = [];
  for (const window of windows.toSorted((a, b) => a.from - b.from)) {
    const previous = result.at(-1);
    if (previous !== undefined && window.from < previous.to) previous.to = Math.max(previous.to, window.to);
    else result.push({ ...window });
  }
  return result;
}

/** Returns the list of one file's windows for the concat demuxer. `times` are frame times in seconds. Pure. */
export function formatConcatList(path: string, windows: readonly CheckWindow[], times: Float64Array): string {
  const quoted = `'${path.replaceAll("'", "'\\''")}'`;
  const seconds = (n: number) => formatSeconds(times[n]! * TICKS_PER_SECOND);
  const lines = windows.map(({ from, to }) => `file ${quoted}\ninpoint ${seconds(from)}\noutpoint ${seconds(to)}`);
  return `ffconcat version 1.0\n${lines.join("\n")}\n`;
}

/** Decodes the windows of a list. Returns the decoder's first message, or null. */
export async function decodeCheckWindows(options: {
  ffmpeg: Ffmpeg;
  listPath: string;
  signal?: AbortSignal | undefined;
  onFrames?: ((frames: number) => void) | undefined;
}): Promise<string | null> {
  const messages: string[] = [];
  const outcome = await tryFfmpeg({
    ffmpeg: options.ffmpeg,
    arguments: [
      ...QUIET_ARGUMENTS,
      ...PROGRESS_ARGUMENTS,
      ...["-protocol_whitelist", "file,pipe", "-format_whitelist", "concat,mov"],
      ...["-f", "concat", "-safe", "0"],
      ...["-skip_loop_filter", "all", "-threads", "1"],
      ...["-i", `file:${options.listPath}`],
      ...["-map", "0:v:0", "-vf", "setpts=N/TB"],
      ...buildPassthroughArguments(options.ffmpeg.libavutil),
      ...["-f", "null", "-"],
    ],
    limits: createWorkLimits(600),
    onLine: (line) => messages.push(line),
    onProgress: ({ frames }) => options.onFrames?.(frames),
    signal: options.signal,
  });
  if (outcome.ok && messages.length === 0) return null;
  // Removes the memory address of the component.
  return (messages[0] ?? outcome.message).replace(/\[([^\s[]+) @ 0x[0-9a-f]+\] /g, "$1: ");
}
