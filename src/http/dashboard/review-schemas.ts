/** The schemas of the review of a cut. */
import { Type } from "@sinclair/typebox";
import { REVIEW_KINDS, REVIEW_STATES } from "../../domain/review";
import { strictObject, withDescription } from "../fields";
import { enumeration, id, orNull, text, time } from "../schema-parts";

const seconds = Type.Number({ description: "time in the recording, in seconds" });
const count = Type.Integer({ minimum: 0 });
const draftRevision = (description: string) => Type.Integer({ minimum: 0, description });

const item = strictObject({
  id: Type.String({ description: "follows from kind and span, and stays the same in saved edits of the cut" }),
  kind: enumeration(REVIEW_KINDS, "`removal`: a removed span; `mark`: a kept span that an editor should check"),
  start: seconds,
  end: seconds,
  reason: Type.String({ description: "why it was removed, or what the mark says" }),
  rule: orNull(text, "the deciding rule"),
  confidence: orNull(Type.Number({ minimum: 0, maximum: 1 })),
  is_suggested_removal: Type.Boolean({ description: "whether the plan suggests removing it" }),
  state: enumeration(REVIEW_STATES, "`kept` and `removed`: what was decided"),
  reviewed_by: orNull(strictObject({ id, name: orNull(text) }), "who decided; null if that account was deleted"),
  reviewed_at: orNull(time),
});

const review = {
  revision: Type.Integer({ minimum: 0, description: "increases with each change; 0 while nothing was decided" }),
  items: Type.Array(item),
  counts: withDescription(strictObject({ open: count, kept: count, removed: count }), "the items of the whole review"),
};

export const REVIEW_SCHEMAS = {
  ReviewItem: item,
  Review: strictObject(review),
  ReviewUpdate: strictObject({
    ...review,
    previous_draft_revision: draftRevision("revision of the draft before this call; 0 without a draft"),
    draft_revision: draftRevision("revision of the draft after this call; 0 without a draft"),
  }),
};
