/** "Letterpress" and "letter press", "back-up" and "backup": the script's and the recogniser's spelling brought together. */
import type { Token } from "../tokens";
import type { ScriptLine } from "./script-lines";

/** Divides a word on one side wherever the other side writes it as two, and never as one. */
export function splitCompounds(
  lines: readonly ScriptLine[],
  tokens: readonly Token[],
): { lines: ScriptLine[]; tokens: Token[] } {
  const written = lines.map((line) => line.words);
  const spoken = [tokens.map((word) => word.normal)];
  const inHeard = pairsOf(spoken);
  const inScript = pairsOf(written);
  return {
    lines: lines.map((line) => ({ ...line, words: line.words.flatMap((word) => inHeard.get(word) ?? [word]) })),
    tokens: tokens.flatMap((word) => {
      const parts = inScript.get(word.normal);
      if (!parts) return [word];
      const middle = Math.round(word.start + ((word.end - word.start) * parts[0].length) / word.normal.length);
      return [
        { ...word, normal: parts[0], end: middle },
        { ...word, normal: parts[1], start: middle },
      ];
    }),
  };
}

/** From a compound to its two parts, for all neighbours in a text that does not contain the compound itself. */
function pairsOf(texts: readonly (readonly string[])[]): Map<string, [string, string]> {
  const single = new Set(texts.flat());
  const pairs = new Map<string, [string, string]>();
  for (const text of texts) {
    for (let i = 1; i < text.length; i++) {
      const whole = text[i - 1]! + text[i]!;
      if (whole.length >= 5 && !single.has(whole)) pairs.set(whole, [text[i - 1]!, text[i]!]);
    }
  }
  return pairs;
}
