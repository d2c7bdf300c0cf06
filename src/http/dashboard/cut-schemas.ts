/** The schemas of cuts that only the dashboard family has, of their reviews, and of live events. */
import { Type } from "@sinclair/typebox";
import { CUT_MODE_NAMES } from "../../domain/plan";
import { planSchema } from "../../domain/plan-schema";
import { REMOVAL_REASONS, type ReviewRule } from "../../domain/planning/rules";
import { REVIEW_KINDS, REVIEW_STATES } from "../../domain/review";
import {
  enumeration,
  id,
  integer,
  orNull,
  rational,
  strictObject,
  text,
  time,
  withDescription,
} from "../../domain/schema-parts";
import { PUBLIC_SCHEMAS } from "../public/schemas";

const seconds = Type.Number({ description: "seconds in the source" });
const reason = enumeration(REMOVAL_REASONS);
const confidence = Type.Number({ minimum: 0, maximum: 1 });
const findingFields = {
  start: seconds,
  end: seconds,
  rule: text,
  confidence: Type.Number({ minimum: 0, maximum: 1, description: "how sure it is that the span should go" }),
  scores: Type.Record(Type.String(), Type.Union([Type.Number(), text, Type.Null()]), {
    description: "the scores on which the rule decided; times are in microseconds",
  }),
};
/** A plan with the data stored beside it. */
const judgedPlan = strictObject({
  ...planSchema.properties,
  removed: Type.Array(
    strictObject({
      ...planSchema.properties.removed.items.properties,
      confidence: orNull(
        confidence,
        "how sure it is that the span should go; null for spans removed by hand and in cuts of older versions",
      ),
    }),
  ),
  review: Type.Optional(
    Type.Array(strictObject({ start: seconds, end: seconds, rule: Type.Unsafe<ReviewRule>(text), confidence }), {
      description: "kept spans with marks, and the rule that marked each; missing in cuts of older versions",
    }),
  ),
});

const presentUser = strictObject({ id, name: orNull(text) });

const secondsInRecording = Type.Number({ description: "time in the recording, in seconds" });
const count = Type.Integer({ minimum: 0 });
const draftRevision = (description: string) => Type.Integer({ minimum: 0, description });

const reviewItem = strictObject({
  id: Type.String({ description: "follows from kind and span, and stays the same in saved edits of the cut" }),
  kind: enumeration(REVIEW_KINDS, "`removal`: a removed span; `mark`: a kept span that an editor should check"),
  start: secondsInRecording,
  end: secondsInRecording,
  reason: Type.String({ description: "the reason for the removal, or the text of the mark" }),
  rule: orNull(text, "the deciding rule"),
  confidence: orNull(confidence),
  is_suggested_removal: Type.Boolean({ description: "whether the plan suggests removing it" }),
  state: enumeration(REVIEW_STATES, "`kept` and `removed`: what was decided"),
  reviewed_by: orNull(presentUser, "who decided; null if that account was deleted"),
  reviewed_at: orNull(time),
});

const review = {
  revision: Type.Integer({ minimum: 0, description: "increases with each change; 0 before the first decision" }),
  items: Type.Array(reviewItem),
  counts: withDescription(strictObject({ open: count, kept: count, removed: count }), "the items of the whole review"),
};

export const CUT_SCHEMAS = {
  CutWithDraft: strictObject({
    ...PUBLIC_SCHEMAS.CutDetail.properties,
    plan: orNull(judgedPlan, "null until completed, and with `plan=false`"),
    draft_revision: orNull(Type.Integer({ minimum: 1 }), "revision of the draft; null without a draft"),
    jobs_before: orNull(
      Type.Integer({ minimum: 0 }),
      "number of cuts in line before this one, also those of others, counted up to 1,000; null unless it is in line",
    ),
  }),
  CutExplanation: strictObject({
    findings: Type.Array(
      strictObject({ ...findingFields, reason: orNull(reason, "null for a span that is kept and marked"), text }),
      { description: "the rules behind the removed and the marked spans, in order of time" },
    ),
    pacing: orNull(
      strictObject({
        edge_margin: seconds,
        frames: orNull(
          Type.Union([
            strictObject({ kind: Type.Literal("constant"), rate: rational, first: seconds, count: integer }),
            strictObject({ kind: Type.Literal("listed"), rate: rational, times: Type.Array(integer), end: integer }),
          ]),
          "the frames to which segments are snapped; listed times are in microseconds; null for audio, and for very long lists",
        ),
        spans: Type.Array(
          strictObject({
            start: seconds,
            end: seconds,
            reason: orNull(reason, "why it can be removed, also if the options of the cut keep it"),
            text,
            findings: Type.Array(strictObject(findingFields)),
          }),
          { description: "the speech and the noise of the recording; the gaps between them are pauses" },
        ),
        word_pauses: Type.Array(strictObject({ start: seconds, end: seconds }), {
          description: "pauses in words that a recognizer stretched into a filler: they stay when fillers do",
        }),
        texts: Type.Array(strictObject({ start: seconds, end: seconds, text }), {
          description: "the corrected texts of all edits so far",
        }),
        options: strictObject({
          ...PUBLIC_SCHEMAS.Cut.properties.options.properties,
          mode: enumeration(CUT_MODE_NAMES),
          remove_off_script: Type.Boolean(),
          remove_pauses: Type.Boolean(),
        }),
      }),
      "what other options need; null for cuts of older versions",
    ),
  }),
  ReviewItem: reviewItem,
  Review: strictObject(review),
  ReviewUpdate: strictObject({
    ...review,
    previous_draft_revision: draftRevision("revision of the draft before this call; 0 without a draft"),
    draft_revision: draftRevision("revision of the draft after this call; 0 without a draft"),
  }),
  LiveChange: strictObject({
    entity_id: withDescription(id, "ID of the resource; for credits, of the workspace"),
    state: orNull(
      text,
      "state of the resource, or `deleted`; null for credits, reviews, presence and most notifications",
    ),
    revision: Type.Optional(Type.Integer({ minimum: 1, description: "of a draft or a review" })),
    users: Type.Optional(Type.Array(presentUser, { description: "everybody who has the cut open" })),
  }),
  LiveProgress: strictObject({
    entity_id: withDescription(id, "ID of the asset, cut or render"),
    progress: Type.Number({ minimum: 0, maximum: 1 }),
  }),
  CutPresence: strictObject({ users: Type.Array(presentUser) }),
};
