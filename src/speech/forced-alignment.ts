/** Forced alignment: finds when each word of a text is spoken in a window, and how well the text fits. */
import type { AlignmentRequest, ForcedAlignment } from "../domain/speech";
import { TICKS_PER_SECOND } from "../domain/time";
import { clipWindow, type EncodedWindow, encodeWindow, type WindowSource } from "./encoded-windows";
import type { DecodedText } from "./moonshine";
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
  const pending = requests.map((request, index) => {
    const window = { span: clipWindow(request.window, source.pcm, MAX_WINDOW_TICKS), mute: request.mute ?? [] };
    const tokens = tokenize(request.text.replace(/\s+/g, " ").trim()).slice(0, MAX_TOKENS);
    return { index, window, order: JSON.stringify(window), tokens: request.text.trim() === "" ? [] : tokens };
  });
  const results: ForcedAlignment[] = new Array(pending.length);
  // Sorted, so that equal windows are adjacent and each is encoded only once.
  for (const one of pending.sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : a.index - b.index))) {
    await check();
    const encoded = await encodeWindow(source, one.window);
    results[one.index] = toForcedAlignment(await source.moonshine.score(encoded.audio, one.tokens), encoded);
  }
  return results;
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
