/** Attempts at a paragraph: groups of lines that were repeatedly spoken together. */
import type { RepeatedLine } from "../retakes/takes-by-line";
import type { TokenRange } from "../tokens";

/** Lines, by index, that are chosen together. `attempts` has an index of a take per line; the last takes come last. */
export type Paragraph = { lines: number[]; attempts: number[][] };

/** Groups lines, in order of time, that follow each other both in their last take and in an earlier one. */
export function groupParagraphs(lines: readonly RepeatedLine[]): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  for (const [i, line] of lines.entries()) {
    const takes = [...line.earlier, line.last];
    const current = paragraphs.at(-1);
    const before = current && lines[current.lines.at(-1)!]!;
    const continued =
      current && before ? continueAttempts(current.attempts, [...before.earlier, before.last], takes) : [];
    const isContinued = continued.length > 1 && continued.at(-1)!.at(-1) === takes.length - 1;
    if (current && isContinued) {
      current.lines.push(i);
      current.attempts = continued;
    } else paragraphs.push({ lines: [i], attempts: takes.map((_, take) => [take]) });
  }
  return paragraphs;
}

/** Returns the attempts in which a take of the next line follows, with that take. */
function continueAttempts(
  attempts: readonly number[][],
  before: readonly TokenRange[],
  takes: readonly TokenRange[],
): number[][] {
  return attempts.flatMap((attempt) => {
    let take = takes.findIndex(({ from }) => from === before[attempt.at(-1)!]!.to);
    // A line that is started over inside an attempt is complete in its last take there.
    while (take >= 0 && takes[take + 1]?.from === takes[take]!.to) take++;
    return take < 0 ? [] : [[...attempt, take]];
  });
}
