/** Chooses among the takes of a line. Pure. */
import { type EditorPlan, fromSeconds, measureKept, type Range, type Removal, removeRange, restoreRange } from "./plan";

/** A line that was recorded several times, as the API returns it, in seconds. */
export type TakeSource = {
  line: string;
  chosen: number;
  candidates: { start: number; end: number; complete: boolean; score?: number | null }[];
};

/** `isKept` refers to the edited plan, not to the original choice. */
export type Take = {
  line: string;
  candidates: (Range & { isComplete: boolean; isKept: boolean; score: number | null })[];
};

/** A take is in the cut if at least this share of it is kept. */
const MIN_KEPT_SHARE = 0.5;
/**
 * A short take is only the padding of adjacent words if the kept share of another take is higher by more than this.
 */
const MAX_LESS_KEPT = 0.25;
/** Maximum duration of a short take, in microseconds. Padding takes up to 0.6 s, so at most half of a longer take. */
const SHORT = 1_200_000;

/** Returns the lines with more than one take, with their state in the plan. */
export const listTakes = (plan: EditorPlan, takes: readonly TakeSource[]): Take[] =>
  takes
    .filter(({ candidates }) => candidates.length > 1)
    .map(({ line, candidates }) => {
      const ranges = candidates.map(({ start, end }) => ({ start: fromSeconds(start), end: fromSeconds(end) }));
      const shares = ranges.map((range) => measureKept(plan, range) / Math.max(1, range.end - range.start));
      const shortLimit = Math.max(MIN_KEPT_SHARE, Math.max(...shares) - MAX_LESS_KEPT);
      const isKept = ({ start, end }: Range, share: number) =>
        share >= (end - start < SHORT ? shortLimit : MIN_KEPT_SHARE);
      return {
        line,
        candidates: candidates.map(({ complete, score = null }, index) => ({
          ...ranges[index]!,
          isComplete: complete,
          score,
          isKept: isKept(ranges[index]!, shares[index]!),
        })),
      };
    });

const RETAKE: Removal = { reason: "retake", rule: null, confidence: null };

/** Keeps one take of a line and removes the others. Parts that two takes share are kept. */
export function chooseTake(plan: EditorPlan, take: Take, chosen: number): EditorPlan {
  const wanted = take.candidates[chosen];
  if (!wanted) return plan;
  let next = plan;
  for (const [index, candidate] of take.candidates.entries())
    if (index !== chosen) next = removeRange(next, candidate, RETAKE);
  return restoreRange(next, wanted);
}

/** Returns the index of the take after the kept one, in recording order. */
export function getNextTake({ candidates }: Take): number {
  const kept = candidates.findIndex(({ isKept }) => isKept);
  return (kept + 1) % candidates.length;
}

/** Returns the line whose takes include a time, or null. */
export const findTakeAt = (takes: readonly Take[], time: number): Take | null =>
  takes.find(({ candidates }) => candidates.some(({ start, end }) => start <= time && time < end)) ?? null;

const WORD = /[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}\p{N}]+)*/gu;

const toPlainWords = (text: string): string[] => text.toLowerCase().replaceAll("’", "'").match(WORD) ?? [];

/** Returns whether words are said in their order, with others between them. */
function areSaid(wanted: readonly string[], said: readonly string[]): boolean {
  let next = 0;
  for (const word of said) if (word === wanted[next]) next++;
  return next === wanted.length;
}

/** Returns the length of the longest common subsequence. */
function countCommon(wanted: readonly string[], said: readonly string[]): number {
  const counts = new Array<number>(wanted.length + 1).fill(0);
  for (const word of said) {
    let before = 0;
    for (const [index, one] of wanted.entries()) {
      const above = counts[index + 1]!;
      counts[index + 1] = word === one ? before + 1 : Math.max(above, counts[index]!);
      before = above;
    }
  }
  return counts[wanted.length]!;
}

/** Returns why a take is not complete, by the words of its line that it lacks. */
export function explainIncomplete(line: string, said: string): string {
  const [wanted, words] = [toPlainWords(line), toPlainWords(said)];
  const common = countCommon(wanted, words);
  const missing = wanted.length - common;
  if (missing === 0 || common === 0) return "not complete";
  if (areSaid(wanted.slice(0, common), words)) return "stops early";
  if (areSaid(wanted.slice(missing), words)) return "starts late";
  if (missing > 1) return `${missing} words missing`;
  return `“${wanted.find((_, index) => areSaid(wanted.toSpliced(index, 1), words))}” missing`;
}
