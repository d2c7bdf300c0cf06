/**
 * The state of the editor for one cut: the data that the transcript, the timeline and the panels show, and a single way
 * to change it.
 */
import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { afterNextFrame } from "../../app/after-next-frame";
import type { Schemas } from "../../app/api";
import { formatCount, formatDecimal } from "../../app/format";
import { applyCorrections, rebaseCorrections } from "../model/corrections";
import { type Edge, hasEdge } from "../model/edges";
import {
  type Content,
  continueHistory,
  findRedoLabel,
  findUndoLabel,
  type History,
  mapHistory,
  preview,
  record,
  redo,
  startHistory,
  takeBack,
  undo,
} from "../model/history";
import {
  type EditorPlan,
  fromSeconds,
  keepsTheSame,
  type Range,
  type RemovalReason,
  type RemovedSpan,
  readPlan,
  toSeconds,
} from "../model/plan";
import { type Decisions, NO_DECISIONS } from "../model/review-queue";
import { listTakes, type Take } from "../model/takes";
import { getWordBounds, type WordRange, type Words } from "../model/words";

export type Cut = Schemas["CutDetail"] & Partial<Pick<Schemas["CutWithDraft"], "jobs_before">>;
export type Plan = NonNullable<Cut["plan"]>;

/** Times in microseconds of the source; null if the mark is not set. */
export type Marks = { in: number | null; out: number | null };
export const NO_MARKS: Marks = { in: null, out: null };

/** `isChange`: the text names a change that undo would revert. */
export type Announcement = { id: number; text: string; isChange: boolean };

export type Editor = {
  /** The edited cut; null if the recording has none, which makes the editor read-only. */
  cut: Cut | null;
  /** Whether the user may edit: false for viewers and without a cut. */
  canEdit: boolean;
  words: Words;
  history: ReadonlySignal<History>;
  /** The decisions of this visit about items of the review. */
  decisions: ReadonlySignal<Decisions>;
  /** Returns the decisions after an edge has moved; set by the review. */
  decideMoved: { current: ((from: number, to: number, plan: EditorPlan) => Decisions | null) | null };
  /**
   * Applies other people's changes to all steps, so that undo does not revert them. With a label, they are a step of
   * their own.
   */
  adopt(change: (content: Content) => Content, label?: string): void;
  /** The content after the last changes of other people, which needs no saving. */
  adopted: { current: Content | null };
  plan: ReadonlySignal<EditorPlan>;
  /**
   * The plan for totals and lists. It is updated after the frame that shows an edit, so that it does not delay that
   * frame.
   */
  latePlan: ReadonlySignal<EditorPlan>;
  /** The text of each word with its corrections. */
  texts: ReadonlySignal<readonly string[]>;
  /** Derived from the late plan, for the panels. */
  takes: ReadonlySignal<Take[]>;
  /** Whether there are changes since the stored cut. */
  isChanged: ReadonlySignal<boolean>;
  /** The selected words. At most one of `selection`, `marks` and `span` is set: setting one clears the others. */
  selection: Signal<WordRange | null>;
  marks: Signal<Marks>;
  /** A removed span, as after a step to a join or a click on a removed word. */
  span: Signal<RemovedSpan | null>;
  /** The edge that keys and buttons move. It may be selected after another selection, which clears it. */
  edge: Signal<Edge | null>;
  /** The line whose take was played in place, by the start of its first take, and the played range. */
  playedTake: Signal<{ line: number; range: Range } | null>;
  /** The selected range of time, however it was selected; null if nothing is. Text and timeline show the same. */
  range: ReadonlySignal<Range | null>;
  /** The matches of the search in the transcript. */
  found: Signal<readonly WordRange[]>;
  /** The removal reason to which text, timeline and steps are limited, or null. */
  filter: Signal<RemovalReason | null>;
  /** Position in the source, in microseconds. */
  playhead: Signal<number>;
  /** Feedback that is shown and announced. A new `id` announces the same text again. */
  announcement: Signal<Announcement>;
  announce(text: string): void;
  /** Records a change. `label` names it for undo. */
  apply(change: Partial<Content>, label: string, announcement: string): void;
  /**
   * Shows an unfinished change, such as a drag. The next `apply` records it as one step; `cancelPreview` reverts it.
   */
  preview(change: Partial<Content>): void;
  cancelPreview(): void;
  /** Whether a drag is in progress. */
  isDragging: ReadonlySignal<boolean>;
  /** The plan before the current drag. */
  getSettled(): Content;
  /** Undoes the last changes with a label, down to a number of steps, without a message. */
  takeBack(label: string, depth: number): void;
  /** The stored cut. */
  stored: Content;
  undo(): void;
  redo(): void;
};

type EditorBefore = Pick<Editor, "history" | "words"> & Partial<Pick<Editor, "selection" | "marks">>;

type EditorSource = {
  cut: Cut | null;
  /** Duration of the recording in seconds. */
  duration: number;
  words: Words;
  /** Earlier edits that were not saved as a cut. */
  draft: Content | null;
  /**
   * The editor in which this cut was saved, and the saved content, so that the undo history continues; null for a cut
   * that was made again, which is a step of its own.
   */
  before?: { editor: EditorBefore; saved: Content | null } | null;
  canWrite: boolean;
  playhead: Signal<number>;
};

/** Returns the plan of a cut. Without a cut, everything is kept. */
export function toEditorPlan(plan: Plan | null, duration: number): EditorPlan {
  if (plan !== null) return readPlan(plan);
  const end = Math.max(1, fromSeconds(duration));
  return { duration: end, spans: [{ start: 0, end, isKept: true, review: null }] };
}

type Before = NonNullable<EditorSource["before"]>;

function continueFrom({ editor, saved }: Before, stored: Content, words: Words): History {
  const history = continueHistory(editor.history.peek(), saved, stored, (corrections) =>
    rebaseCorrections(corrections, editor.words, words),
  );
  const { decisions } = history.present;
  return saved === null ? record(history, { ...stored, ...(decisions && { decisions }) }, "Re-cut") : history;
}

export function createEditor({ cut, duration, words, draft, before = null, canWrite, playhead }: EditorSource): Editor {
  const stored: Content = { plan: toEditorPlan(cut?.plan ?? null, duration), corrections: [] };
  const start = before === null ? startHistory(stored) : continueFrom(before, stored, words);
  const history = signal(draft === null ? start : record(start, draft, "Edits of an earlier visit"));
  const adopted: Editor["adopted"] = { current: null };
  /** The history before a drag; null without a drag. */
  const settled = signal<History | null>(null);

  const plan = computed(() => history.value.present.plan);
  const corrections = computed(() => history.value.present.corrections);
  const latePlan = signal(plan.peek());
  effect(() => {
    if (plan.value !== latePlan.peek())
      afterNextFrame(() => {
        latePlan.value = plan.peek();
      });
  });
  const edge = signal<Edge | null>(null);
  // Deselects an edge that an edit or undo has removed: moving it would cut elsewhere.
  effect(() => {
    const current = plan.value;
    const chosen = edge.peek();
    if (chosen !== null && !hasEdge(current, chosen)) edge.value = null;
  });
  const announcement = signal<Announcement>({ id: 0, text: "", isChange: false });
  const announce = (text: string, isChange = false) => {
    announcement.value = { id: announcement.peek().id + 1, text, isChange };
  };
  // Cuts of a recording have the same words.
  const selection = signal<WordRange | null>(before?.editor.selection?.peek() ?? null);
  const marks = signal<Marks>(before?.editor.marks?.peek() ?? NO_MARKS);
  const span = signal<RemovedSpan | null>(null);
  // A span that was restored or has moved is no longer selected.
  effect(() => {
    const { spans } = plan.value;
    const chosen = span.peek();
    if (chosen !== null && !spans.includes(chosen)) span.value = null;
  });
  // A new selection replaces the other ones.
  const kinds: [Signal<unknown>, none: unknown][] = [
    [selection, null],
    [marks, NO_MARKS],
    [span, null],
  ];
  for (const [chosen, none] of kinds)
    effect(() => {
      if (chosen.value === none) return;
      for (const [other, nothing] of kinds) if (other !== chosen) other.value = nothing;
      edge.value = null;
    });
  const range = computed((): Range | null => {
    if (span.value !== null) return span.value;
    if (selection.value !== null) return getWordBounds(words, selection.value);
    const { in: start, out: end } = marks.value;
    if (start === null && end === null) return null;
    const marked = { start: start ?? 0, end: end ?? plan.value.duration };
    return marked.end > marked.start ? marked : null;
  });

  return {
    cut,
    canEdit: canWrite && cut !== null,
    words,
    history,
    decisions: computed(() => history.value.present.decisions ?? NO_DECISIONS),
    decideMoved: { current: null },
    adopted,
    adopt: (change, label) => {
      const follow = (one: History): History =>
        label === undefined ? mapHistory(one, change) : record(one, change(one.present), label);
      const before = settled.peek();
      const next = follow(before ?? history.peek());
      adopted.current = next.present;
      batch(() => {
        if (before !== null) settled.value = next;
        history.value = before === null ? next : preview(next, change(history.peek().present));
      });
    },
    plan,
    latePlan,
    texts: computed(() => applyCorrections(words, corrections.value)),
    takes: computed(() => listTakes(latePlan.value, cut?.plan?.takes ?? [])),
    isChanged: computed(() => corrections.value.length > 0 || !keepsTheSame(plan.value, stored.plan)),
    selection,
    marks,
    span,
    edge,
    playedTake: signal(null),
    found: signal([]),
    range,
    filter: signal<RemovalReason | null>(null),
    playhead,
    announcement,
    announce,
    apply: (change, label, text) => {
      const before = settled.peek() ?? history.peek();
      const next = record(before, { ...before.present, ...change }, label);
      batch(() => {
        settled.value = null;
        history.value = next;
      });
      if (next !== before) announce(text, true);
    },
    preview: (change) => {
      const before = settled.peek() ?? history.peek();
      batch(() => {
        settled.value = before;
        history.value = preview(before, { ...before.present, ...change });
      });
    },
    cancelPreview: () => {
      const before = settled.peek();
      if (before === null) return;
      batch(() => {
        settled.value = null;
        history.value = before;
      });
    },
    isDragging: computed(() => settled.value !== null),
    getSettled: () => (settled.peek() ?? history.peek()).present,
    takeBack: (label, depth) => {
      history.value = takeBack(history.peek(), label, depth);
    },
    stored,
    undo: () => {
      const label = findUndoLabel(history.value);
      history.value = undo(history.value);
      announce(label === null ? "Nothing to undo" : `Undone: ${label}`);
    },
    redo: () => {
      const label = findRedoLabel(history.value);
      history.value = redo(history.value);
      announce(label === null ? "Nothing to redo" : `Redone: ${label}`);
    },
  };
}

/** Returns "12 words removed" and "12 words removed, 3.1 s". `time` is how much longer the cut is. */
export const describeWords = (
  count: number,
  isRestored: boolean,
  time: number,
): [label: string, announcement: string] => {
  const label = `${formatCount(count, "word")} ${isRestored ? "restored" : "removed"}`;
  return [label, time === 0 ? label : `${label}, ${formatDecimal(toSeconds(Math.abs(time)))} s`];
};
