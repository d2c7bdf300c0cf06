/** The schemas of cuts that only the dashboard family has. */
import { Type } from "@sinclair/typebox";
import { CUT_MODE_NAMES } from "../../domain/plan";
import { REMOVAL_REASONS, type ReviewRule } from "../../domain/planning/rules";
import { strictObject } from "../fields";
import { PUBLIC_SCHEMAS, plan } from "../public/schemas";
import { enumeration, integer, orNull, rational, text } from "../schema-parts";

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
/** A plan with what is stored beside it. */
const judgedPlan = strictObject({
  ...plan.properties,
  removed: Type.Array(
    strictObject({
      ...plan.properties.removed.items.properties,
      confidence: orNull(
        confidence,
        "how sure it is that the span should go; null for spans removed by hand and in cuts of older versions",
      ),
    }),
  ),
  review: Type.Optional(
    Type.Array(strictObject({ start: seconds, end: seconds, rule: Type.Unsafe<ReviewRule>(text), confidence }), {
      description: "what is kept and marked, with the rule that marked it; missing in cuts of older versions",
    }),
  ),
});

export const CUT_SCHEMAS = {
  CutWithDraft: strictObject({
    ...PUBLIC_SCHEMAS.CutDetail.properties,
    plan: orNull(judgedPlan, "null until completed, and with `plan=false`"),
    draft_revision: orNull(Type.Integer({ minimum: 1 }), "revision of the draft; null without a draft"),
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
          mode: enumeration(CUT_MODE_NAMES),
          min_silence_seconds: Type.Number(),
          padding_before_seconds: Type.Number(),
          padding_after_seconds: Type.Number(),
          remove_fillers: Type.Boolean(),
          remove_retakes: Type.Boolean(),
          remove_off_script: Type.Boolean(),
          remove_pauses: Type.Boolean(),
        }),
      }),
      "what other options need; null for cuts of older versions",
    ),
  }),
};
