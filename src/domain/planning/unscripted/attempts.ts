/** Attempts at a paragraph: lines that were spoken together, each time they were. */
import type { RepeatedLine } from "../retakes/takes-by-line";
import type { TokenRange } from "../tokens";

/** Lines, by index, that are chosen together. `attempts` has an index of a take for each line, in order of time; the last takes come last. */
export type Paragraph = { lines: number[]; attempts: number[][] };

/** Divides lines, in order of time, into paragraphs: lines that follow each other both in their last take and in an earlier one. */
export function groupParagraphs(lines: readonly RepeatedLine[]): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  for (const [i, line] of lines.entries()) {
    const current = paragraphs.at(-1);
    const before = current && lines[current.lines.at(-1)!]!;
    const continues = current && before && follows(before.last, line.last);
    const earlier = continues ? continueAttempts(current.attempts.slice(0, -1), before, line) : [];
    if (continues && earlier.length > 0) {
      current.lines.push(i);
      current.attempts = [...earlier, [...current.attempts.at(-1)!, line.earlier.length]];
    } else paragraphs.push({ lines: [i], attempts: [...line.earlier, line.last].map((_, take) => [take]) });
  }
  return paragraphs;
}

/** Returns the attempts in which the line follows, with its take there. */
function continueAttempts(attempts: readonly number[][], before: RepeatedLine, { earlier }: RepeatedLine): number[][] {
  return attempts.flatMap((attempt) => {
    const previous = before.earlier[attempt.at(-1)!]!;
    const take = earlier.findIndex((range) => follows(previous, range));
    return take < 0 ? [] : [[...attempt, take]];
  });
}

/** Returns whether a take directly follows another one. */
const follows = (a: TokenRange, b: TokenRange): boolean => b.from === a.to;
