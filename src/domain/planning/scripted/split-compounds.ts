/** Unifies the compounds of the script and the transcript: "letterpress" and "letter press", "back-up" and "backup". */
import type { Token } from "../tokens";
import type { ScriptLine } from "./script-lines";

const MIN_COMPOUND_CHARACTERS = 5;

/** Divides each word that the other side always writes as two words. */
export function splitCompounds(
  lines: readonly ScriptLine[],
  tokens: readonly Token[],
): { lines: ScriptLine[]; tokens: Token[] } {
  const inTranscript = findWordPairs([tokens.map((token) => token.normal)]);
  const inScript = findWordPairs(lines.map((line) => line.words));
  return {
    lines: lines.map((line) => ({ ...line, words: line.words.flatMap((word) => inTranscript.get(word) ?? [word]) })),
    tokens: tokens.flatMap((token) => {
      const parts = inScript.get(token.normal);
      if (!parts) return [token];
      const middle = Math.round(token.start + ((token.end - token.start) * parts[0].length) / token.normal.length);
      return [
        { ...token, normal: parts[0], end: middle },
        { ...token, normal: parts[1], start: middle },
      ];
    }),
  };
}

/** Returns the two parts of each compound that the texts write only as two adjacent words. */
function findWordPairs(texts: readonly (readonly string[])[]): Map<string, [string, string]> {
  const single = new Set(texts.flat());
  const pairs = new Map<string, [string, string]>();
  for (const text of texts) {
    for (let i = 1; i < text.length; i++) {
      const compound = text[i - 1]! + text[i]!;
      if (compound.length >= MIN_COMPOUND_CHARACTERS && !single.has(compound))
        pairs.set(compound, [text[i - 1]!, text[i]!]);
    }
  }
  return pairs;
}
