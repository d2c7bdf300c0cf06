/** What a drill compares, and which render it renders again. */
import type { WorkspaceBalance } from "./backup";
import { type Ticks, toSeconds } from "./time";

/** Compares the balances of a restored database with those of the manifest. Returns a sentence for each workspace that differs. */
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

/** Compares the frames of a render with those of the stored one, by their hashes. Returns what differs first, or null. `unit`: "Frame". */
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

/** A completed render. `duration`: of the recording. `encodedShare`: null without video. `madeWith`: null when unknown. */
export type RenderCandidate = {
  id: string;
  isCut: boolean;
  isVideo: boolean;
  duration: Ticks;
  encodedShare: number | null;
  madeWith: string | null;
};

/** Maximum cost of the render that is rendered again: about the seconds of video that are encoded. */
const MAX_COST = 120;
/** Cost of a second that is copied, or of a second of audio, compared with one that is encoded. */
const COPY_COST = 0.05;

const getCost = ({ duration, encodedShare }: RenderCandidate): number =>
  toSeconds(duration) * Math.max(COPY_COST, encodedShare ?? 0);

/**
 * Returns the cheapest render to render again: one that was made with the ffmpeg and the encoder in use if there is one, because others may give
 * other frames; else a cut with video. Null when all are too long.
 */
export function selectRender(candidates: readonly RenderCandidate[], madeWith: string): RenderCandidate | null {
  const rank = (candidate: RenderCandidate): number =>
    (candidate.madeWith === madeWith ? 4 : 0) + (candidate.isVideo ? 2 : 0) + (candidate.isCut ? 1 : 0);
  const affordable = candidates.filter((candidate) => getCost(candidate) <= MAX_COST);
  return affordable.toSorted((a, b) => rank(b) - rank(a) || getCost(a) - getCost(b))[0] ?? null;
}
