/** The schema of a plan as JSON. Pure. */
import { Type } from "@sinclair/typebox";
import { REMOVAL_REASONS, type RemovalRule } from "./planning/rules";
import { enumeration, integer, orNull, rational, strictObject, text } from "./schema-parts";

const seconds = Type.Number({ description: "time in the source, in seconds" });

/**
 * Times have at most six decimals. `chosen` is an index into `candidates`. Plans that were stored before rules were
 * recorded have no `rule`, and plans edited from them have null; the same applies to `language`.
 */
export const planSchema = strictObject({
  source_duration: seconds,
  kept_duration: Type.Number(),
  frame_rate: orNull(rational),
  segments: Type.Array(
    strictObject({
      start: seconds,
      end: seconds,
      start_frame: orNull(integer),
      end_frame: orNull(integer, "exclusive"),
      text,
      review: orNull(text, "why an editor should check this segment"),
    }),
  ),
  removed: Type.Array(
    strictObject({
      start: seconds,
      end: seconds,
      reason: enumeration(REMOVAL_REASONS),
      rule: Type.Optional(
        orNull(
          Type.Unsafe<RemovalRule>(text),
          "the deciding rule; null or missing in plans from before rules were recorded",
        ),
      ),
      text,
    }),
  ),
  takes: Type.Array(
    strictObject({
      line: text,
      chosen: integer,
      candidates: Type.Array(
        strictObject({ start: seconds, end: seconds, score: Type.Number(), complete: Type.Boolean() }),
      ),
    }),
  ),
  missing: Type.Array(text),
  warnings: Type.Array(text),
  language: Type.Optional(
    orNull(text, "assumed ISO 639-1 code; null if the cut was made from pauses alone or by an older version"),
  ),
});
