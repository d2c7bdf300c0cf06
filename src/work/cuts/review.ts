/**
 * Reviews of cuts. A decision is stored beside the cut, and the draft contains the resulting spans. Both change in one
 * transaction, so that they agree after a reload and when two people edit at the same time. A saved edit gets the items
 * and decisions of its cut.
 */
import { conflict, invalidField, requireFound } from "../../domain/errors";
import type { PlanJson } from "../../domain/plan-json";
import {
  applyDecisions,
  isWorthReview,
  listPauses,
  listPlanItems,
  parseItems,
  planSpans,
  type ReviewDecision,
  type ReviewItem,
  type ReviewState,
} from "../../domain/review";
import { spanFromSeconds, spanToSeconds } from "../../domain/time";
import { findAssetById } from "../../store/assets";
import { type Cut, findDraft } from "../../store/cuts";
import type { Queries } from "../../store/db";
import { updateOpenMarks } from "../../store/library";
import {
  deleteDecisions,
  increaseReviewRevision,
  listDecisions,
  readReviewRevision,
  type StoredDecision,
  saveDecisions,
} from "../../store/reviews";
import type { CoreNeeds } from "../needs";
import { requireDatabaseSpace } from "../storage/limits";
import { storeDraft } from "./drafts";
import { judgeCut } from "./stored-basis";
import { requireCurrent } from "./versions";

/** The parts of a completed cut that its review needs, parsed from JSON. */
export type ReviewedPlan = { plan: PlanJson; items: ReviewItem[] };

/** Parses the plan of a cut and the items of its review. Throws `AppError` `conflict` if it is not completed. */
export function readReviewedPlan(cut: Cut): ReviewedPlan {
  if (cut.state !== "completed" || cut.plan === null) throw conflict(`Cut is ${cut.state}, not completed.`);
  const plan = JSON.parse(cut.plan) as PlanJson;
  return { plan, items: cut.review_items === null ? listPlanItems(judgeCut(cut, plan)) : parseItems(cut.review_items) };
}

/** The review of a cut: the decisions by the IDs of their items. */
export type Review = { revision: number; decisions: Map<string, StoredDecision> };

export async function readReview({ store }: CoreNeeds, cut: Cut): Promise<Review> {
  const revision = await readReviewRevision(store.read, cut.id);
  const stored = revision === 0 ? [] : await listDecisions(store.read, cut.id);
  return { revision, decisions: new Map(stored.map((one) => [one.item_id, one])) };
}

/** Counts the items worth reviewing about which nothing was decided. */
export async function countOpenMarks(tx: Queries, cutId: string, items: readonly ReviewItem[]): Promise<number> {
  const worth = items.filter(isWorthReview);
  if (worth.length === 0) return 0;
  const decided = new Set((await listDecisions(tx, cutId)).map((one) => one.item_id));
  return worth.filter(({ id }) => !decided.has(id)).length;
}

export type ItemState = { id: string; state: ReviewState };

/** `changed`: the items that the request names. Revisions of the draft are 0 without one. */
export type ReviewUpdate = { changed: ReviewItem[]; previousDraftRevision: number; draftRevision: number };

/**
 * Stores decisions and applies them to the draft. The last decision about an item counts. Errors: `conflict` (not
 * completed, superseded, quota), `validation_error` (unknown items, a draft with too many segments),
 * `upstream_unavailable`.
 */
export async function updateReview(
  services: CoreNeeds,
  cut: Cut,
  { plan, items }: ReviewedPlan,
  { states, userId }: { states: readonly ItemState[]; userId: string },
): Promise<ReviewUpdate> {
  const { store, now } = services;
  const decisions = readDecisions(items, states);
  const asset = requireFound(await findAssetById(store.read, cut.asset_id), "Asset of the cut");
  requireDatabaseSpace(services);
  return store.write(async (tx) => {
    await requireCurrent(tx, cut);
    const old = await findDraft(tx, cut.workspace_id, cut.id);
    const previousDraftRevision = old?.revision ?? 0;
    const changed = decisions.map(({ item }) => item);
    if (decisions.length === 0) return { changed, previousDraftRevision, draftRevision: previousDraftRevision };
    const open = decisions.filter(({ state }) => state === "open").map(({ item }) => item.id);
    await deleteDecisions(tx, cut.id, open);
    await saveDecisions(
      tx,
      decisions.flatMap(({ item, state }) =>
        state === "open"
          ? []
          : [
              {
                cut_id: cut.id,
                item_id: item.id,
                workspace_id: cut.workspace_id,
                decision: state,
                reviewed_by: userId,
                reviewed_at: now(),
              },
            ],
      ),
    );
    await increaseReviewRevision(tx, cut.id, cut.workspace_id);
    await updateOpenMarks(tx, cut.id, await countOpenMarks(tx, cut.id, items));
    const planned = planSpans(plan);
    const before = old?.segments.map(spanFromSeconds) ?? planned;
    const after = applyDecisions(before, decisions, {
      planned,
      pauses: listPauses(plan),
      duration: asset.duration ?? 0,
    });
    if (after === before) return { changed, previousDraftRevision, draftRevision: previousDraftRevision };
    const segments = after.map(spanToSeconds);
    const draft = await storeDraft(services, tx, cut, { old, segments, texts: old?.texts ?? [], userId });
    return { changed, previousDraftRevision, draftRevision: draft.revision };
  });
}

/**
 * Returns the decisions of a request, one for each item, sorted by time. Throws `AppError` `validation_error` for
 * unknown items.
 */
function readDecisions(items: readonly ReviewItem[], states: readonly ItemState[]): ReviewDecision[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const decisions = new Map<string, ReviewDecision>();
  for (const [index, { id, state }] of states.entries()) {
    const item = byId.get(id);
    if (item === undefined) throw invalidField(`body.items.${index}.id`, "must be the ID of an item of this cut", id);
    decisions.set(id, { item, state });
  }
  return [...decisions.values()].sort((a, b) => a.item.start - b.item.start);
}
