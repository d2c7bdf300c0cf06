/** Words of a take that replace words of its line. */
import type { AlignedWord, ForcedAlignment, Word } from "../../speech";
import { measureWordDistance } from "../../text/normalize";
import { isFillerText } from "../fillers/filler-words";
import { overlapDuration } from "../spans";
import type { PathTake } from "./path-takes";
import type { ScriptedRecording } from "./scripted-recording";

/** A word with a lower log probability is not spoken. */
const MIN_WORD = -6;

type AlignedTake = PathTake & { alignment: ForcedAlignment | null };

/** Returns the words of a take's line that are not spoken where they align. */
export const listUnspokenWords = ({ alignment }: AlignedTake): AlignedWord[] =>
  alignment?.words.filter((word) => word.logProb < MIN_WORD) ?? [];

/** Returns the words of a take that are said in place of other words of its line, which do not align there. */
export function listDifferingWords(take: AlignedTake, { tokens, words, lines }: ScriptedRecording): Word[] {
  const lineWords = lines[take.line]!.words;
  const lineWordOf = new Map([...take.pairs].map((token, k) => [token, lineWords[k]!]));
  const out: Word[] = [];
  let hasLost = false;
  for (let j = take.from; j < take.to; j++) {
    const matched = lineWordOf.get(j);
    if (matched !== undefined) hasLost = take.pairs[take.pairs.indexOf(j) + 1] === -1;
    else if (j === take.from) hasLost = take.pairs[0] === -1;
    const isOther = matched === undefined ? hasLost : measureWordDistance(matched, tokens[j]!.normal) >= 1;
    const word = words[tokens[j]!.word]!;
    const aligns = take.alignment?.words.some((own) => own.logProb >= MIN_WORD && overlapDuration(own, word) > 0);
    if (isOther && !aligns && word.text !== "" && !isFillerText(word.text)) out.push(word);
  }
  return out;
}
