/** Transcripts for the tests of retakes, written as text. */
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import { findRetakes } from "../../../../../src/domain/planning/retakes/find-retakes";
import { tokenize } from "../../../../../src/domain/planning/tokens";
import type { Word } from "../../../../../src/domain/speech";
import { runWithoutAlignment } from "../run-without-alignment";

/**
 * Words of a text, each 0.3 s long; a `/` is a pause of half a second, `?word` is one that the recognizer was not sure
 * of, `word~3` lasts 3 s.
 */
export function spoken(text: string): Word[] {
  const words: Word[] = [];
  let at = 0;
  for (const token of text.split(" ")) {
    if (token === "/") {
      at += 500_000;
      continue;
    }
    const [text, seconds = "0.3"] = token.replace(/^\?/, "").split("~");
    const end = at + Math.round(Number(seconds) * 1e6);
    words.push({ text: text!, start: at, end, confidence: token.startsWith("?") ? 0.3 : 0.95 });
    at = end;
  }
  return words;
}

/** The words that are removed as retakes, with their rules. */
export function removed(text: string): string {
  const words = spoken(text);
  const { retakes } = runWithoutAlignment(findRetakes(words, tokenize(words, "en"), ENGLISH));
  return retakes
    .sort((a, b) => a.from - b.from)
    .map(
      ({ from, to, match }) =>
        `${match.rule}: ${words
          .slice(from, to)
          .map((word) => word.text)
          .join(" ")}`,
    )
    .join(" | ");
}

/** The words that are kept and marked, with their rules. */
export function marked(text: string): string {
  const words = spoken(text);
  const { possible } = runWithoutAlignment(findRetakes(words, tokenize(words, "en"), ENGLISH));
  const join = (from: number, to: number) => words.slice(from, to).map((word) => word.text);
  return possible.map(({ from, to, match }) => `${match.rule}: ${join(from, to).join(" ")}`).join(" | ");
}
