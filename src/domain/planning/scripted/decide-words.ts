/** The verdict on every word of a recording that was made with a script. */

import type { CutOptions } from "../../plan";
import type { Span } from "../../time";
import { overlap } from "../audio-activity";
import type { JudgedWord } from "../decided-spans";
import { isFillerText } from "../fillers/filler-words";
import type { RefinedTake } from "./excise-disfluencies";
import type { ScriptPath } from "./find-path";
import type { LineCandidate } from "./line-candidates";
import type { Hearing } from "./scripted-input";

/** The kept takes' words as the script has them, and the other heard words with the reason why they go. */
export function wordsOfTakes(
  takes: readonly RefinedTake[],
  candidates: readonly LineCandidate[][],
  path: ScriptPath,
  { words, heard }: Hearing,
  options: CutOptions,
): JudgedWord[] {
  const out: JudgedWord[] = [];
  const used = new Uint8Array(words.length);
  for (const take of takes) {
    const gone: Span[] = [...take.cut, ...take.mute];
    const drops = (span: Span) => gone.some((other) => overlap(other, span) > (span.end - span.start) / 2);
    const spoken: (Span & { text: string })[] = [];
    for (let i = take.from; i < take.to; i++) {
      const word = words[heard[i]!.word]!;
      const met = path.kept[i] || take.pairs.includes(i) || take.forced === null;
      if (!met || drops(word)) continue;
      used[heard[i]!.word] = 1;
      spoken.push(word);
    }
    const exact = take.fitting && take.forced ? take.forced.words.filter((word) => !drops(word)) : [];
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
    for (const { start, end, reason } of take.cut)
      out.push({ start, end, text: "", keep: false, reason, review: null });
  }
  const similar = candidates.flat().map((candidate) => candidate.window);
  for (const [i, word] of words.entries()) {
    if (used[i]) continue;
    const again = similar.some((span) => overlap(span, word) > 0);
    const reason = isFillerText(word.text) ? "filler" : again ? "retake" : "off_script";
    const keep = again && (reason === "retake" ? !options.remove_retakes : !options.remove_fillers);
    out.push({ start: word.start, end: word.end, text: word.text, keep, reason, review: null });
  }
  return out;
}
