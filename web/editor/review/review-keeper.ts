/**
 * Keeps the decisions of a review: in this browser immediately, on the server a moment later, several at once. Without
 * a connection they stay in the browser. Decisions of other people arrive live.
 */
import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { ApiError, api, must, type Schemas, toMessage } from "../../app/api";
import { connection } from "../../app/connection";
import { createKept } from "../../app/kept";
import { listenLive } from "../../app/live";
import type { DraftKeeper } from "../../pages/asset/draft-keeper";
import { fromSeconds, type RemovalReason } from "../model/plan";
import {
  compareDecisions,
  type Decision,
  type Decisions,
  decide,
  mergeDecisions,
  NO_DECISIONS,
  type ReviewItem,
} from "../model/review-queue";
import type { Editor } from "../state/editor-state";

export type ReviewKeeper = {
  /** Null until they are loaded. */
  items: ReadonlySignal<readonly ReviewItem[] | null>;
  decisions: ReadonlySignal<Decisions>;
  /** The person who decided about an item on the server. */
  findAuthor(id: string): { name: string | null; at: string } | null;
  /** Why the review could not be loaded, or null. */
  problem: ReadonlySignal<string | null>;
  reload(): void;
  stop(): void;
};

type Changes = Map<string, Decision | null>;

const SEND_AFTER_MS = 300;
const RETRY_MS = 5_000;
/** Codes of answers about the decisions themselves. A proxy's 404, as while the server restarts, has none. */
const REFUSALS = ["forbidden", "not_found", "conflict", "validation_error"];

const kept = createKept(
  "review",
  (value): value is [string, Decision | null][] => Array.isArray(value) && value.every(Array.isArray),
);

export function keepReview(editor: Editor, keeper: DraftKeeper | null): ReviewKeeper {
  const cutId = editor.cut!.id;
  const stored = signal<StoredReview | null>(null);
  const problem = signal<string | null>(null);
  /** Decisions that the server does not have yet. */
  const unsent = signal<Changes>(new Map(kept.read(cutId)));
  const ended = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isSending = false;
  let own = editor.decisions.peek();

  const items = computed(() => stored.value && readItems(stored.value));
  const known = computed(() => (stored.value === null ? NO_DECISIONS : readDecisions(stored.value)));
  const decisions = computed(() => mergeDecisions(known.value, unsent.value));

  const change = (next: Changes) => {
    unsent.value = next;
    if (next.size === 0) kept.clear(cutId);
    else kept.write(cutId, [...next]);
  };
  const schedule = (after: number) => {
    clearTimeout(timer);
    if (!ended.signal.aborted) timer = setTimeout(() => void send(), after);
  };

  /** Shows decisions that other people made since the last answer, in the cut too. */
  const follow = (next: StoredReview) => {
    const before = stored.peek() && known.peek();
    stored.value = next;
    problem.value = null;
    if (before === null) return;
    const byOthers = compareDecisions(before, known.peek());
    const changed = (items.peek() ?? []).filter(({ id }) => byOthers.has(id) && !unsent.peek().has(id));
    if (changed.length === 0) return;
    editor.adopt((content) => {
      let { plan } = content;
      for (const item of changed) {
        const decision = byOthers.get(item.id);
        if (decision) plan = decide(plan, item, decision);
      }
      return { ...content, plan };
    });
  };
  const load = async () => {
    try {
      const next = await fetchReview(cutId, ended.signal);
      // An answer of the server to this tab may have overtaken this one.
      if (next.revision >= (stored.peek()?.revision ?? 0)) follow(next);
    } catch (error) {
      if (!ended.signal.aborted && stored.peek() === null) problem.value = toMessage(error);
    }
  };

  const send = async () => {
    const batch = new Map(unsent.peek());
    if (batch.size === 0 || isSending) return;
    isSending = true;
    const request = async () => {
      const answer = await sendDecisions(cutId, batch);
      const changed = new Map(answer.items.map((item) => [item.id, item]));
      const review = stored.peek();
      if (review !== null)
        stored.value = {
          ...review,
          revision: answer.revision,
          items: review.items.map((item) => changed.get(item.id) ?? item),
        };
      return { before: answer.previous_draft_revision, after: answer.draft_revision };
    };
    try {
      await (keeper === null ? request() : keeper.sendBetween(request));
      settle(batch);
      schedule(0);
    } catch (error) {
      fail(error, batch);
    } finally {
      isSending = false;
    }
  };
  /** Removes sent decisions from the unsent ones, unless they have changed since. */
  const settle = (batch: Changes) => {
    change(new Map([...unsent.peek()].filter(([id, decision]) => batch.get(id) !== decision || !batch.has(id))));
  };
  const fail = (error: unknown, batch: Changes) => {
    // Only an answer about the decisions themselves ends the attempts.
    const isRefused = error instanceof ApiError && REFUSALS.includes(error.code);
    if (!isRefused) return schedule(RETRY_MS);
    const ids = new Set(items.peek()?.map(({ id }) => id));
    const rest = new Map([...batch].filter(([id]) => ids.has(id)));
    if (error.status === 422 && rest.size < batch.size) {
      change(new Map([...unsent.peek()].filter(([id]) => ids.has(id))));
      schedule(0);
    } else settle(batch);
    void load();
  };

  const stops = [
    effect(() => {
      const now = editor.decisions.value;
      const changed = compareDecisions(own, now);
      own = now;
      if (changed.size === 0) return;
      change(new Map([...unsent.peek(), ...changed]));
      schedule(SEND_AFTER_MS);
    }),
    effect(() => {
      if (connection.value === "online" && unsent.peek().size > 0) schedule(0);
    }),
    listenLive(["review.updated"], ({ type, entityId }) => {
      if (type === "reset" || entityId === cutId) void load();
    }),
  ];
  void load();

  return {
    items,
    decisions,
    findAuthor: (id) => {
      const item = stored.peek()?.items.find((one) => one.id === id);
      return item?.reviewed_at ? { name: item.reviewed_by?.name ?? null, at: item.reviewed_at } : null;
    },
    problem,
    reload: () => {
      problem.value = null;
      void load();
    },
    stop: () => {
      ended.abort();
      clearTimeout(timer);
      for (const stop of stops) stop();
    },
  };
}

type StoredReview = Schemas["Review"];

const ofCut = (cutId: string) => ({ params: { path: { cut_id: cutId } } });

const fetchReview = (cutId: string, signal: AbortSignal): Promise<StoredReview> =>
  must(api.GET("/api/v1/cuts/{cut_id}/review", { ...ofCut(cutId), signal }));

/** Sends decisions; null opens an item again. */
const sendDecisions = (
  cutId: string,
  decisions: ReadonlyMap<string, Decision | null>,
): Promise<Schemas["ReviewUpdate"]> =>
  must(
    api.PATCH("/api/v1/cuts/{cut_id}/review", {
      ...ofCut(cutId),
      body: { items: [...decisions].map(([id, state]) => ({ id, state: state ?? ("open" as const) })) },
    }),
  );

const readItems = ({ items }: StoredReview): ReviewItem[] =>
  items.map(({ id, kind, start, end, reason, rule, confidence, is_suggested_removal }) => ({
    id,
    kind,
    start: fromSeconds(start),
    end: fromSeconds(end),
    reason: kind === "removal" ? (reason as RemovalReason) : null,
    review: kind === "mark" ? reason : null,
    rule,
    confidence,
    isSuggestedRemoval: is_suggested_removal,
  }));

function readDecisions({ items }: StoredReview): Decisions {
  const decisions = new Map<string, Decision>();
  for (const { id, state } of items) if (state !== "open") decisions.set(id, state);
  return decisions;
}
