/** The fields of an edit, which is sent as a cut or saved as a draft. */
import { type Static, Type } from "@sinclair/typebox";
import { limitedText, listField, strictObject } from "../../domain/schema-parts";
import { MAX_EDITED_SEGMENTS, type PlanEdit } from "../../work/cuts/plan-edits";

const startField = Type.Number({ minimum: 0, errorText: "must be a number of seconds from 0" });
const endField = Type.Number({ exclusiveMinimum: 0, errorText: "must be a number of seconds above 0" });

/** A segment in a request. Only the bounds are used, so that the segments of a plan can be sent back. */
const editedSegment = strictObject({
  start: startField,
  end: endField,
  start_frame: Type.Optional(Type.Unknown()),
  end_frame: Type.Optional(Type.Unknown()),
  text: Type.Optional(Type.Unknown()),
  review: Type.Optional(Type.Unknown()),
});

const MAX_TEXTS = 5_000;
const MAX_TEXT_CHARACTERS = 10_000;

export const editedSegments = (minItems: number) =>
  Type.Array(editedSegment, {
    minItems,
    maxItems: MAX_EDITED_SEGMENTS,
    description: "The segments to keep, in seconds of the recording: sorted, disjoint, each at least 0.1 s long",
    errorText: `must be a list of ${minItems} to ${MAX_EDITED_SEGMENTS} segments`,
  });

const editedText = strictObject({
  start: startField,
  end: endField,
  text: limitedText(MAX_TEXT_CHARACTERS),
});

export const editedTexts = listField(
  editedText,
  0,
  MAX_TEXTS,
  "texts",
  "Corrected words, sorted and disjoint: each replaces the recognized words between two times of the recording, in seconds",
);

type EditBody = {
  segments: Static<ReturnType<typeof editedSegments>>;
  texts?: Static<typeof editedTexts>;
};

/** Returns the edit without the unused properties of its segments. */
export const readPlanEdit = ({ segments, texts = [] }: EditBody): PlanEdit => ({
  segments: segments.map(({ start, end }) => ({ start, end })),
  texts,
});
