/** Compares the data of a drill, and selects the render to repeat. */
import type { WorkspaceBalance } from "./backup";
import { type Ticks, toSeconds } from "./time";

/** Compares the balances of a restored database with the manifest. Returns a sentence for each difference. */
export function findBalanceProblems(
  expected: readonly WorkspaceBalance[],
  restored: readonly WorkspaceBalance[],
): string[] {
  const none = { entries: 0, credits: 0, held: 0 };
  const index = (balances: readonly WorkspaceBalance[]) =>
    new Map(balances.map((balance) => [balance.workspace_id, balance]));
  const [before, after] = [index(expected), index(restored)];
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((id) => {
    const { entries, credits, held } = before.get(id) ?? none;
    const found = after.get(id) ?? none;
    const problem = (what: string, has: number, should: number) =>
      has === should ? [] : [`Workspace ${id} has ${format(has)} ${what}, expected ${format(should)}.`];
    return [
      ...problem("credits in its ledger", found.credits, credits),
      ...problem("ledger entries", found.entries, entries),
      ...problem("credits on hold", found.held, held),
    ].slice(0, 1);
  });
}

const format = (value: number): string => value.toLocaleString("en-US");

/** Compares two renders by the hashes of their frames. Returns the first difference, or null. `unit` is "Frame". */
export function findFrameProblem(unit: string, stored: readonly string[], rendered: readonly string[]): string | null {
  const lower = unit.toLowerCase();
  if (stored.length === 0) return `The stored render has no ${lower}.`;
  if (stored.length !== rendered.length)
    return `Number of ${lower}s differs: ${format(rendered.length)} rendered, ${format(stored.length)} stored.`;
  const first = stored.findIndex((hash, n) => hash !== rendered[n]);
  return first === -1
    ? null
    : `${unit} ${format(first + 1)} of ${format(stored.length)} differs from the stored render.`;
}

/** A completed render. `duration` is the recording's. `encodedShare` is null without video, `madeWith` if unknown. */
export type RenderCandidate = {
  id: string;
  isCut: boolean;
  isVideo: boolean;
  duration: Ticks;
  encodedShare: number | null;
  madeWith: string | null;
};

/** Maximum cost of the render to repeat, roughly in seconds of encoded video. */
const MAX_COST = 120;
/** Cost of a copied second, or of a second of audio, relative to an encoded second. */
const COPY_COST = 0.05;

const getCost = ({ duration, encodedShare }: RenderCandidate): number =>
  toSeconds(duration) * Math.max(COPY_COST, encodedShare ?? 0);

/**
 * Returns the cheapest render to repeat: one that was made with the current ffmpeg and encoder if possible, because
 * others may produce different frames; otherwise a cut with video. Null if all are too long.
 */
export function selectRender(candidates: readonly RenderCandidate[], madeWith: string): RenderCandidate | null {
  const rank = (candidate: RenderCandidate): number =>
    (candidate.madeWith === madeWith ? 4 : 0) + (candidate.isVideo ? 2 : 0) + (candidate.isCut ? 1 : 0);
  const affordable = candidates.filter((candidate) => getCost(candidate) <= MAX_COST);
  return affordable.toSorted((a, b) => rank(b) - rank(a) || getCost(a) - getCost(b))[0] ?? null;
}
