/** Undo and redo of everything that the editor changes. Pure. */
import { type EditorPlan, keepsTheSame } from "./plan";

/** A corrected text, in microseconds of the source. */
export type Correction = { start: number; end: number; text: string };

/** What the editor changes. */
export type Content = { plan: EditorPlan; corrections: readonly Correction[] };

type Step = { content: Content; label: string };

/** `past` and `future` end with the step that undo or redo goes to. `label` is what led to `present`. */
export type History = { past: readonly Step[]; present: Content; label: string | null; future: readonly Step[] };

/** Older steps are forgotten. Plans share their spans, so a step costs little. */
const MAX_STEPS = 500;

export const startHistory = (content: Content): History => ({ past: [], present: content, label: null, future: [] });

/** Records a change. One that changes nothing is left out. */
export function record(history: History, content: Content, label: string): History {
  if (isSame(history.present, content)) return history;
  const past = [...history.past.slice(1 - MAX_STEPS), { content: history.present, label }];
  return { past, present: content, label, future: [] };
}

/** Replaces the present without a step: for the moves of one drag, whose end is recorded. */
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

/**
 * Returns the history as it goes on in the cut that `saved` has become: `stored`, which the server has moved to frames, takes its place. `rebase`
 * returns the corrections of the other steps as those of the words of that cut.
 */
export function continueHistory(
  { past, present, label, future }: History,
  saved: Content,
  stored: Content,
  rebase: (corrections: Content["corrections"]) => Content["corrections"],
): History {
  const known = new Map<Content["corrections"], Content["corrections"]>();
  // Most steps share their corrections.
  const toStored = (content: Content): Content => {
    if (content === saved) return stored;
    const { corrections } = content;
    const rebased = known.get(corrections) ?? rebase(corrections);
    known.set(corrections, rebased);
    return { ...content, corrections: rebased };
  };
  const toSteps = (steps: readonly Step[]) => steps.map((step) => ({ ...step, content: toStored(step.content) }));
  return { past: toSteps(past), present: toStored(present), label, future: toSteps(future) };
}

export const canUndo = ({ past }: History): boolean => past.length > 0;
export const canRedo = ({ future }: History): boolean => future.length > 0;

/** Returns what undo or redo would change, such as "Remove 12 words"; null if there is nothing. */
export const getUndoLabel = ({ past }: History): string | null => past.at(-1)?.label ?? null;
export const getRedoLabel = ({ future }: History): string | null => future.at(-1)?.label ?? null;

const isSame = (a: Content, b: Content): boolean =>
  (a.plan === b.plan || keepsTheSame(a.plan, b.plan)) &&
  (a.corrections === b.corrections || JSON.stringify(a.corrections) === JSON.stringify(b.corrections));
