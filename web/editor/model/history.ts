/** Undo and redo of all changes in the editor, and the form in which its content is stored and sent. Pure. */
import type { PacingOptions } from "../../../src/domain/pacing/repace";
import { type EditorPlan, fromSeconds, keepOnly, keepsTheSame, listKept, toSeconds } from "./plan";
import { compareDecisions, type Decisions, NO_DECISIONS } from "./review-queue";

/** A corrected text, in microseconds of the source. */
export type Correction = { start: number; end: number; text: string };

/**
 * The content that the editor changes. `decisions` are those of this visit about items of the review. `pacing`: the
 * options of the plan before the edits by hand; without it, they are those of the stored cut.
 */
export type Content = {
  plan: EditorPlan;
  corrections: readonly Correction[];
  decisions?: Decisions;
  pacing?: PacingOptions;
};

type Step = { content: Content; label: string };

/**
 * The last step of `past` is the target of undo, that of `future` the target of redo. `label` names the change that led
 * to `present`.
 */
export type History = { past: readonly Step[]; present: Content; label: string | null; future: readonly Step[] };

/** Maximum number of steps; older ones are dropped. Plans share their spans, so a step uses little memory. */
const MAX_STEPS = 500;

export const startHistory = (content: Content): History => ({ past: [], present: content, label: null, future: [] });

/** Records a change. Does nothing if the content is the same. */
export function record(history: History, content: Content, label: string): History {
  if (isSame(history.present, content)) return history;
  const past = [...history.past.slice(1 - MAX_STEPS), { content: history.present, label }];
  return { past, present: content, label, future: [] };
}

/** Replaces the present without adding a step. Used during a drag, whose end is recorded. */
export const preview = (history: History, content: Content): History => ({ ...history, present: content });

export function undo(history: History): History {
  const last = history.past.at(-1);
  if (!last) return history;
  const past = history.past.slice(0, -1);
  const future = [...history.future, { content: history.present, label: last.label }];
  return { past, present: last.content, label: past.at(-1)?.label ?? null, future };
}

export function redo(history: History): History {
  const next = history.future.at(-1);
  if (!next) return history;
  const past = [...history.past, { content: history.present, label: next.label }];
  return { past, present: next.content, label: next.label, future: history.future.slice(0, -1) };
}

/** Undoes the last changes with a label, down to a number of steps. */
export function takeBack(history: History, label: string, depth: number): History {
  if (history.label !== label || history.past.length <= depth) return history;
  return takeBack(undo(history), label, depth);
}

/**
 * Continues the history in the cut that was created from `saved`; null if none was saved. In its place comes `stored`,
 * which the server has snapped to frames. `rebase` converts the corrections of the other steps to the words of that
 * cut.
 */
export function continueHistory(
  { past, present, label, future }: History,
  saved: Content | null,
  stored: Content,
  rebase: (corrections: Content["corrections"]) => Content["corrections"],
): History {
  const known = new Map<Content["corrections"], Content["corrections"]>();
  // Most steps share their corrections.
  const toStored = (content: Content): Content => {
    const { corrections, decisions, pacing } = content;
    if (content === saved) return decisions || pacing ? { ...stored, ...pickKept(content) } : stored;
    const rebased = known.get(corrections) ?? rebase(corrections);
    known.set(corrections, rebased);
    return { ...content, corrections: rebased };
  };
  const toSteps = (steps: readonly Step[]) => steps.map((step) => ({ ...step, content: toStored(step.content) }));
  return { past: toSteps(past), present: toStored(present), label, future: toSteps(future) };
}

export const canUndo = ({ past }: History): boolean => past.length > 0;
export const canRedo = ({ future }: History): boolean => future.length > 0;

/** Returns the label of the change that undo would revert, such as "Remove 12 words", or null. */
export const findUndoLabel = ({ past }: History): string | null => past.at(-1)?.label ?? null;
export const findRedoLabel = ({ future }: History): string | null => future.at(-1)?.label ?? null;

/** Changes every step, for changes by other people, which undo must not take back. */
export function mapHistory(history: History, change: (content: Content) => Content): History {
  const known = new Map<Content, Content>();
  const apply = (content: Content): Content => {
    const changed = known.get(content) ?? change(content);
    known.set(content, changed);
    return changed;
  };
  const toSteps = (steps: readonly Step[]) => steps.map((step) => ({ ...step, content: apply(step.content) }));
  return { ...history, past: toSteps(history.past), present: apply(history.present), future: toSteps(history.future) };
}

/** Returns the content that a stored cut does not have. */
const pickKept = ({ decisions, pacing }: Content): Pick<Content, "decisions" | "pacing"> => ({
  ...(decisions && { decisions }),
  ...(pacing && { pacing }),
});

const isSame = (a: Content, b: Content): boolean =>
  (a.pacing === b.pacing || JSON.stringify(a.pacing) === JSON.stringify(b.pacing)) &&
  compareDecisions(a.decisions ?? NO_DECISIONS, b.decisions ?? NO_DECISIONS).size === 0 &&
  (a.plan === b.plan || keepsTheSame(a.plan, b.plan)) &&
  (a.corrections === b.corrections || JSON.stringify(a.corrections) === JSON.stringify(b.corrections));

/** The parts that an edit keeps, and its corrected texts, in seconds. */
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
