/** Merges the edits of other people into those of this tab. Pure. */

import {
  applyTexts,
  type Changes,
  countChanges,
  type Edit,
  listChanges,
  listPlaceChanges,
  type Merge,
  mergeEdits,
} from "../../../src/domain/merge-edits";
import { findFirst } from "../../../src/domain/time";
import type { Content } from "./history";
import { type EditorPlan, listKept, removeRange, restoreRange } from "./plan";

/** The places that two people changed in different ways. */
export type Places = Merge["places"];

const toEdit = ({ plan, corrections }: Content): Edit => ({ kept: listKept(plan), texts: corrections });

export const isSameContent = (a: Content, b: Content): boolean => countChanges(listChanges(toEdit(a), toEdit(b))) === 0;

/** `free`: their changes to apply to mine, of `count` edits. `places`: null if nothing has to be asked. */
type MergedContents = { free: Changes; count: number; places: Places | null };

export function mergeContents(base: Content, mine: Content, theirs: Content): MergedContents {
  const { free, count, asked, places } = mergeEdits(toEdit(base), toEdit(mine), toEdit(theirs));
  return { free, count, places: countChanges(asked) === 0 ? null : places };
}

export function applyToContent(content: Content, { kept, texts }: Changes): Content {
  const plan = kept.reduce<EditorPlan>(
    (before, change) => (change.isKept ? restoreRange : removeRange)(before, change),
    content.plan,
  );
  return { ...content, plan, corrections: applyTexts(content.corrections, texts) };
}

/** Returns the changes that lead from one content to another in these places. */
export const listChangesIn = (places: Places, from: Content, to: Content): Changes =>
  listPlaceChanges(toEdit(from), toEdit(to), places);

/**
 * Moves each edge of a plan to the edge of another plan that is within `tolerance`. The server aligns edges to frames,
 * which is not a change that a person made.
 */
export function alignPlan(plan: EditorPlan, others: readonly EditorPlan[], tolerance: number): EditorPlan {
  const edges = others.flatMap(({ spans }) => spans.map(({ start }) => start)).sort((a, b) => a - b);
  const align = (time: number): number => {
    const next = findFirst(edges.length, (index) => edges[index]! >= time);
    const near = [edges[next - 1], edges[next]].filter((edge) => edge !== undefined);
    const nearest = near.toSorted((a, b) => Math.abs(a - time) - Math.abs(b - time))[0];
    return nearest !== undefined && Math.abs(nearest - time) <= tolerance ? nearest : time;
  };
  let at = 0;
  const spans = plan.spans.flatMap((span) => {
    const start = Math.max(at, align(span.start));
    const end = span.end === plan.duration ? span.end : align(span.end);
    if (end <= start) return [];
    at = end;
    return [{ ...span, start, end }];
  });
  return { ...plan, spans };
}
