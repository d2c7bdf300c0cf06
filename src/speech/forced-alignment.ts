/** Forced alignment: finds when each word of a text is spoken in a window, and how well the text fits. */
import type { AlignmentRequest, ForcedAlignment } from "../domain/speech";
import { TICKS_PER_SECOND } from "../domain/time";
import { clipWindow, type EncodedWindow, scoreWindows, type WindowSource } from "./encoded-windows";
import type { DecodedText } from "./recognizer";
import { snapWordEdges } from "./snapping";
import type { Checkpoint } from "./task-control";
import { tokenize } from "./tokens";
import { timeWords, toRecordingTicks } from "./word-timing";

/** Maximum length of the window and of the text that the graphs accept. The rest is cut off. */
const MAX_WINDOW_TICKS = 40 * TICKS_PER_SECOND;
const MAX_TOKENS = 1_000;

/**
 * Aligns each text and returns the results in the order of the requests. `check` is called between steps and may throw
 * to stop.
 */
export async function forcedAlign(
  source: WindowSource,
  requests: AlignmentRequest[],
  check: Checkpoint,
): Promise<ForcedAlignment[]> {
  const results: ForcedAlignment[] = new Array(requests.length);
  const windows = requests.map(({ window, mute = [] }) => ({
    span: clipWindow(window, source.pcm, MAX_WINDOW_TICKS),
    mute,
  }));
  // Equal windows are encoded only once.
  const groups = [...Map.groupBy(windows.keys(), (index) => JSON.stringify(windows[index])).values()];
  const distinct = groups.map(([first]) => windows[first!]!);
  const texts = groups.map((group) => group.map((index) => toTokens(requests[index]!.text)));
  for await (const [n, encoded, scored] of scoreWindows(source, distinct, texts, () => check()))
    for (const [i, index] of groups[n]!.entries()) results[index] = toForcedAlignment(scored[i]!, encoded);
  return results;
}

function toTokens(text: string): number[] {
  const line = text.replace(/\s+/g, " ").trim();
  return line === "" ? [] : tokenize(line).slice(0, MAX_TOKENS);
}

function toForcedAlignment(scored: DecodedText, window: EncodedWindow): ForcedAlignment {
  const { start, end } = window.span;
  const words = snapWordEdges(timeWords(scored), window.energy).map((w) => {
    const from = toRecordingTicks(w.start, start, end);
    return {
      text: w.text,
      start: from,
      end: Math.max(from, toRecordingTicks(w.end, start, end)),
      confidence: Math.exp(w.meanLogProb),
      logProb: w.minLogProb,
    };
  });
  // An empty text is scored by its end token alone, which indicates how likely silence is.
  const spoken = scored.tokens.length === 0 ? scored.logProbs : scored.logProbs.subarray(0, scored.tokens.length);
  return {
    words,
    meanLogProb: spoken.reduce((a, b) => a + b, 0) / spoken.length,
    tailLogProb: Math.min(...spoken.subarray(-3)),
  };
}
