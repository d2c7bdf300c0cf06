/** Users' edits of a plan: saved as a draft, and sent as a cut. */
import { AppError, MAX_FIELD_ERRORS } from "../../domain/errors";
import type { PacingOptions } from "../../domain/pacing/repace";
import { type EditedSegment, validateEdit } from "../../domain/plan-edit";
import { type EditedText, validateTexts } from "../../domain/plan-texts";
import type { SourceClock } from "../../domain/segments";

export const MAX_EDITED_SEGMENTS = 20_000;

/** `pacing`: the options with which the plan is assembled before it is edited, if an editor has changed them. */
export type PlanEdit = { segments: EditedSegment[]; texts: EditedText[]; pacing?: PacingOptions };

/** Throws `AppError` `validation_error` unless the edit fits the recording. */
export function requireValidEdit({ segments, texts }: PlanEdit, clock: SourceClock): void {
  const fields = [
    ...validateEdit(segments, clock).map(({ index, message }) => ({ field: `body.segments.${index}`, message })),
    ...validateTexts(texts, clock.duration).map(({ index, message }) => ({ field: `body.texts.${index}`, message })),
  ].slice(0, MAX_FIELD_ERRORS);
  if (fields.length > 0) throw new AppError("validation_error", "The edit is not a valid plan.", { fields });
}
