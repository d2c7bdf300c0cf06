/** A review in progress: the queue, the open card, and its playback. */
import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { createSetting } from "../../app/settings";
import type { DraftKeeper } from "../../pages/asset/draft-keeper";
import { type EditorPlan, isMostlyRemoved } from "../model/plan";
import {
  ALL_WORTH,
  compareDecisions,
  countProgress,
  type Decision,
  decide,
  decideMoved,
  findContext,
  findOpenAfter,
  findOpenAt,
  listQueue,
  type QueueFilter,
  type QueueProgress,
  type ReviewItem,
  stepQueue,
} from "../model/review-queue";
import { nameItem } from "../reasons";
import type { Editor } from "../state/editor-state";
import type { Playback } from "../state/playback";
import { keepReview, type ReviewKeeper } from "./review-keeper";

export type ReviewSession = {
  keeper: ReviewKeeper;
  filter: ReadonlySignal<QueueFilter>;
  /** Keeps the card if the filter shows its item; otherwise opens the next one. */
  setFilter(filter: QueueFilter): void;
  queue: ReadonlySignal<readonly ReviewItem[]>;
  progress: ReadonlySignal<QueueProgress>;
  /** Number of places that are worth a listen and not decided, whatever the filter shows. */
  open: ReadonlySignal<number>;
  /** The marks that are not decided, by time. */
  openMarks: ReadonlySignal<readonly ReviewItem[]>;
  /** Whether a card, or the end of the queue, is shown. */
  isReviewing: ReadonlySignal<boolean>;
  /** The item of the card; null before the start and after the end. */
  current: ReadonlySignal<ReviewItem | null>;
  /** Whether the card plays the cut without the item. */
  isWithout: ReadonlySignal<boolean>;
  /** Whether cards play when they open. */
  playsItself: Signal<boolean>;
  /** Whether the keys are listed below the card. They shrink after some decisions. */
  hasHints: Signal<boolean>;
  /** Opens the card at the playhead, or the card of an item. */
  start(item?: ReviewItem): void;
  /** Goes to the next open item (1), or to the item before (-1). */
  step(direction: 1 | -1): void;
  decide(decision: Decision): void;
  play(isWithout: boolean): void;
  /** Plays again, or stops. */
  toggle(): void;
  close(): void;
  stop(): void;
};

/** Whether a card plays when it opens. */
const playsItself = createSetting<boolean>("review-plays", true);
/** Number of decisions of this user. Counts up to `HINTED_DECISIONS`, after which the hints shrink. */
const decided = createSetting<number>("review-decided", 0);
export const HINTED_DECISIONS = 10;
/** Time after which the next card is loaded, so that the open one plays first. */
const PRELOAD_AFTER_MS = 150;

type Parts = { editor: Editor; playback: Playback; draft: DraftKeeper | null; onStart(): void };

export function createSession({ editor, playback, draft, onStart }: Parts): ReviewSession {
  const keeper = keepReview(editor, draft);
  const { decisions } = keeper;
  const filter = signal<QueueFilter>(ALL_WORTH);
  const isReviewing = signal(false);
  const currentId = signal<string | null>(null);
  const isWithout = signal(false);
  const hasHints = signal(decided.peek() < HINTED_DECISIONS);
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether this tab's own decision is being recorded, which is not an undo. */
  let isDeciding = false;
  /** Places that were decided by moving an edge, which leaves their card open. */
  const moved = new Set<string>();
  let last = editor.decisions.peek();

  const items = computed(() => keeper.items.value ?? []);
  const queue = computed(() => listQueue(items.value, filter.value));
  const current = computed(() => queue.value.find(({ id }) => id === currentId.value) ?? null);
  const findPosition = () => queue.peek().findIndex(({ id }) => id === currentId.peek());
  const nextOpen = (all = decisions.peek()) => findOpenAfter(queue.peek(), all, findPosition());

  const vary = (plan: EditorPlan, item: ReviewItem, without: boolean) =>
    decide(plan, item, without ? "removed" : "kept");
  const preload = (plan: EditorPlan, item: ReviewItem, without: boolean) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const next = nextOpen(new Map(decisions.peek()).set(item.id, "kept"));
      const other = vary(plan, item, !without);
      const parts = [{ plan: other, range: findContext(other, item) }];
      if (next !== null) parts.push({ plan, range: findContext(plan, next) });
      playback.player.preload(parts);
    }, PRELOAD_AFTER_MS);
  };
  const playItem = (plan: EditorPlan, item: ReviewItem, without: boolean) => {
    isWithout.value = without;
    if (!playback.isReady.peek()) return;
    const varied = vary(plan, item, without);
    playback.playPart(varied, findContext(varied, item));
    preload(plan, item, without);
  };
  /** Opens a card. `plan` is the plan that the editor is about to show. */
  const show = (item: ReviewItem | null, plan = editor.plan.peek()) => {
    currentId.value = item?.id ?? null;
    if (item === null) {
      playback.pause();
      return;
    }
    const without = isMostlyRemoved(plan, item);
    isWithout.value = without;
    if (playsItself.peek() && playback.isReady.peek()) playItem(plan, item, without);
    else playback.seek(item.start);
  };

  const stops = [
    // Undo and redo go back to the card whose decision they change.
    effect(() => {
      const now = editor.decisions.value;
      const changed = compareDecisions(last, now);
      last = now;
      for (const id of moved) changed.delete(id);
      moved.clear();
      if (isDeciding || !isReviewing.peek() || changed.size === 0) return;
      const item = queue.peek().find(({ id }) => changed.has(id));
      if (item) show(item);
    }),
  ];

  editor.decideMoved.current = (from, to, plan) => {
    const changed = decideMoved(items.peek(), new Set(decisions.peek().keys()), [from, to], plan);
    if (changed.size === 0) return null;
    for (const id of changed.keys()) moved.add(id);
    return new Map([...editor.decisions.peek(), ...changed]);
  };

  const start = (item?: ReviewItem) => {
    const first = item ?? findOpenAt(queue.peek(), decisions.peek(), playback.playhead.peek());
    if (first === null && queue.peek().length === 0) {
      editor.announce("Nothing to review");
      return;
    }
    isReviewing.value = true;
    onStart();
    show(first);
  };
  return {
    keeper,
    filter,
    setFilter: (next) => {
      filter.value = next;
      if (!isReviewing.peek() || current.peek() !== null) return;
      show(findOpenAt(queue.peek(), decisions.peek(), playback.playhead.peek()));
    },
    queue,
    progress: computed(() => countProgress(queue.value, decisions.value)),
    open: computed(() => countProgress(listQueue(items.value, ALL_WORTH), decisions.value).open),
    openMarks: computed(() =>
      items.value
        .filter(({ id, kind }) => kind === "mark" && !decisions.value.has(id))
        .sort((a, b) => a.start - b.start),
    ),
    isReviewing,
    current,
    isWithout,
    playsItself,
    hasHints,
    start,
    step: (direction) => {
      if (!isReviewing.peek()) {
        if (direction === 1) start();
        else start(queue.peek().findLast(({ start: at }) => at < playback.playhead.peek()));
        return;
      }
      show(direction === 1 ? nextOpen() : stepQueue(queue.peek(), findPosition(), -1));
    },
    decide: (decision) => {
      const item = current.peek();
      if (item === null || !editor.canEdit) return;
      const own = new Map(editor.decisions.peek()).set(item.id, decision);
      const plan = decide(editor.plan.peek(), item, decision);
      const name = nameItem(editor, item);
      // The next card plays first, so that the player changes only once.
      show(nextOpen(new Map(decisions.peek()).set(item.id, decision)), plan);
      isDeciding = true;
      const isKept = decision === "kept";
      editor.apply({ plan, decisions: own }, `${isKept ? "Keep" : "Remove"} ${name}`, `${name} ${decision}`);
      isDeciding = false;
      if (decided.peek() >= HINTED_DECISIONS) return;
      decided.value++;
      if (decided.peek() === HINTED_DECISIONS) hasHints.value = false;
    },
    play: (without) => {
      const item = current.peek();
      if (item === null) return;
      if (playback.isReady.peek()) playItem(editor.plan.peek(), item, without);
      else editor.announce("Playback is not ready yet");
    },
    toggle: () => {
      const item = current.peek();
      if (item === null || playback.isPlaying.peek()) playback.toggle();
      else if (playback.isReady.peek()) playItem(editor.plan.peek(), item, isWithout.peek());
      else editor.announce("Playback is not ready yet");
    },
    close: () => {
      isReviewing.value = false;
      currentId.value = null;
      playback.pause();
    },
    stop: () => {
      clearTimeout(timer);
      editor.decideMoved.current = null;
      keeper.stop();
      for (const stop of stops) stop();
    },
  };
}
