/** Reads the review of a cut from the server, and sends decisions. */
import { api, must, type Schemas } from "../../app/api";
import { fromSeconds, type RemovalReason } from "../model/plan";
import type { Decision, Decisions, ReviewItem } from "../model/review-queue";

export type StoredReview = Schemas["Review"];

const ofCut = (cutId: string) => ({ params: { path: { cut_id: cutId } } });

export const fetchReview = (cutId: string, signal: AbortSignal): Promise<StoredReview> =>
  must(api.GET("/api/v1/cuts/{cut_id}/review", { ...ofCut(cutId), signal }));

/** Sends decisions; null opens an item again. */
export const sendDecisions = (
  cutId: string,
  decisions: ReadonlyMap<string, Decision | null>,
): Promise<Schemas["ReviewUpdate"]> =>
  must(
    api.PATCH("/api/v1/cuts/{cut_id}/review", {
      ...ofCut(cutId),
      body: { items: [...decisions].map(([id, state]) => ({ id, state: state ?? ("open" as const) })) },
    }),
  );

export const readItems = ({ items }: StoredReview): ReviewItem[] =>
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

export function readDecisions({ items }: StoredReview): Decisions {
  const decisions = new Map<string, Decision>();
  for (const { id, state } of items) if (state !== "open") decisions.set(id, state);
  return decisions;
}
