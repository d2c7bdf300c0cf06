/** The review of a cut: the items that an editor should check, and the decisions about them. */
import { Type } from "@sinclair/typebox";
import { REVIEW_STATES, type ReviewItem } from "../../domain/review";
import { listField, oneOf, strictObject } from "../../domain/schema-parts";
import { toSeconds } from "../../domain/time";
import { runLargeTasksSerially } from "../../lib/large-tasks";
import type { Cut } from "../../store/cuts";
import { type Review, type ReviewedPlan, readReview, readReviewedPlan, updateReview } from "../../work/cuts/review";
import { type Call, ok } from "../call";
import { MAX_LARGE_BODY_BYTES } from "../parse-request";
import { cutLoader } from "../public/cuts";
import { respondsWith } from "../response-docs";
import { route } from "../route";
import type { Resource } from "../schemas";
import { formatTime } from "../schemas";

const MAX_ITEMS = 20_000;
const MAX_ID_CHARACTERS = 64;

const readPlan = async (cut: Cut): Promise<ReviewedPlan> =>
  runLargeTasksSerially(cut.plan ?? "", () => readReviewedPlan(cut));

async function showItem(
  { authorship }: Call,
  { decisions }: Review,
  { id, kind, start, end, reason, rule, confidence }: ReviewItem,
): Promise<Resource<"ReviewItem">> {
  const decision = decisions.get(id);
  return {
    id,
    kind,
    start: toSeconds(start),
    end: toSeconds(end),
    reason,
    rule,
    confidence,
    is_suggested_removal: kind === "removal",
    state: decision?.decision ?? "open",
    reviewed_by: decision ? ((await authorship(decision.reviewed_by)).created_by ?? null) : null,
    reviewed_at: formatTime(decision?.reviewed_at ?? null),
  };
}

async function showReview(call: Call, review: Review, all: readonly ReviewItem[], shown: readonly ReviewItem[]) {
  const counts = { open: 0, kept: 0, removed: 0 };
  for (const { id } of all) counts[review.decisions.get(id)?.decision ?? "open"]++;
  const items: Resource<"ReviewItem">[] = [];
  for (const item of shown) items.push(await showItem(call, review, item));
  return { revision: review.revision, items, counts };
}

export const read = route({
  summary: "Retrieve the review of a cut: removed spans and marks, and what was decided about them",
  errors: ["conflict"],
  responses: { 200: respondsWith("Review", "The review") },
  load: cutLoader,
  handle: async (call, { resource }) => {
    const { items } = await readPlan(resource);
    return ok(await showReview(call, await readReview(call.services, resource), items, items));
  },
});

export const update = route({
  summary:
    "Decide about items of a review. The draft of the cut keeps and removes their spans from then on, and is created if necessary",
  example: { items: [{ id: "rrqo0-11z4g", state: "kept" }] },
  errors: ["conflict", "upstream_unavailable"],
  maxBodyBytes: MAX_LARGE_BODY_BYTES,
  body: strictObject({
    items: listField(
      strictObject({
        id: Type.String({ maxLength: MAX_ID_CHARACTERS, errorText: "must be the ID of an item of this cut" }),
        state: oneOf(...REVIEW_STATES),
      }),
      0,
      MAX_ITEMS,
      "items",
      "`open` takes a decision back: the span is as in the cut again. If an item is listed twice, its last state counts",
    ),
  }),
  responses: { 200: respondsWith("ReviewUpdate", "The changed items") },
  load: cutLoader,
  handle: async (call, { body, resource }) => {
    const reviewed = await readPlan(resource);
    const { changed, previousDraftRevision, draftRevision } = await updateReview(call.services, resource, reviewed, {
      states: body.items,
      userId: call.principal.user.id,
    });
    const review = await readReview(call.services, resource);
    return ok({
      ...(await showReview(call, review, reviewed.items, changed)),
      previous_draft_revision: previousDraftRevision,
      draft_revision: draftRevision,
    } satisfies Resource<"ReviewUpdate">);
  },
});
