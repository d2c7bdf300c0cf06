/** The verdict on every word of a recording that was made with a script. */

import type { CutOptions } from "../../plan";
import type { Span } from "../../time";
import { overlapDuration } from "../audio-activity";
import type { DecidedWord } from "../decided-spans";
import { isFillerText } from "../fillers/filler-words";
import type { ExcisedTake } from "./excise-disfluencies";
import type { ScriptPath } from "./find-path";
import type { LineCandidate } from "./line-candidates";
import type { ScriptedInput } from "./scripted-input";

/** The kept takes' words as the script has them, and the other heard words with the reason why they go. */
export function decideScriptedWords(
  takes: readonly ExcisedTake[],
  candidates: readonly LineCandidate[][],
  path: ScriptPath,
  { words, tokens }: ScriptedInput,
  options: CutOptions,
): DecidedWord[] {
  const out: DecidedWord[] = [];
  const used = new Uint8Array(words.length);
  for (const take of takes) {
    const removed: Span[] = [...take.excisions, ...take.mute];
    const drops = (span: Span) => removed.some((other) => overlapDuration(other, span) > (span.end - span.start) / 2);
    const spoken: (Span & { text: string })[] = [];
    for (let i = take.from; i < take.to; i++) {
      const word = words[tokens[i]!.word]!;
      const met = path.kept[i] || take.pairs.includes(i) || take.alignment === null;
      if (!met || drops(word)) continue;
      used[tokens[i]!.word] = 1;
      spoken.push(word);
    }
    const exact = take.fitting && take.alignment ? take.alignment.words.filter((word) => !drops(word)) : [];
    for (const word of exact.length > 0 ? exact : spoken) {
      out.push({
        start: word.start,
        end: word.end,
        text: word.text,
        keep: true,
        reason: "silence",
        review: take.review,
      });
    }
    for (const { start, end, reason } of take.excisions)
      out.push({ start, end, text: "", keep: false, reason, review: null });
  }
  const similar = candidates.flat().map((candidate) => candidate.window);
  for (const [i, word] of words.entries()) {
    if (used[i]) continue;
    const resemblesLine = similar.some((span) => overlapDuration(span, word) > 0);
    const reason = isFillerText(word.text) ? "filler" : resemblesLine ? "retake" : "off_script";
    const keep = resemblesLine && (reason === "retake" ? !options.remove_retakes : !options.remove_fillers);
    out.push({ start: word.start, end: word.end, text: word.text, keep, reason, review: null });
  }
  return out;
}
