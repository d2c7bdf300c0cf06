/** The form in which an edit is stored and sent: kept segments and corrected texts in seconds. Pure. */
import type { Content } from "./history";
import { type EditorPlan, fromSeconds, keepOnly, listKept, toSeconds } from "./plan";

export type DraftSource = {
  segments: { start: number; end: number }[];
  texts: { start: number; end: number; text: string }[];
};

export const toDraft = ({ plan, corrections }: Content): DraftSource => ({
  segments: listKept(plan).map(({ start, end }) => ({ start: toSeconds(start), end: toSeconds(end) })),
  texts: corrections.map(({ start, end, text }) => ({ start: toSeconds(start), end: toSeconds(end), text })),
});

/** Applies a draft to the plan on which it is based. */
export const fromDraft = (plan: EditorPlan, { segments, texts }: DraftSource): Content => ({
  plan: keepOnly(
    plan,
    segments.map(({ start, end }) => ({ start: fromSeconds(start), end: fromSeconds(end) })),
  ),
  corrections: texts.map(({ start, end, text }) => ({ start: fromSeconds(start), end: fromSeconds(end), text })),
});
