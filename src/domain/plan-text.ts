/** Parses a plan edited by a person or program: the JSON of `cut --plan`, or the API's cut resource around it. */
import { type ArrayOptions, type TSchema, Type } from "@sinclair/typebox";
import { ValueErrorType } from "@sinclair/typebox/errors";
import { Value } from "@sinclair/typebox/value";
import { type FieldError, MAX_FIELD_ERRORS } from "./errors";
import type { EditedSegment } from "./plan-edit";
import type { PlanJson } from "./plan-json";
import { REMOVAL_REASONS } from "./planning/rules";

/** A segment as written. A null `text` was not given. */
export type WrittenSegment = EditedSegment & { text: string | null; review: string | null };

/** A plan as written: correct in form, but not yet checked against a recording. Optional parts are null or empty. */
export type WrittenPlan = Pick<PlanJson, "removed" | "takes" | "missing" | "warnings"> & {
  sourceDurationSeconds: number | null;
  segments: WrittenSegment[];
  language: string | null;
};

const MAX_SHOWN_CHARACTERS = 40;
const MAX_LANGUAGE_CHARACTERS = 35;

/** Returns the schema of an object. A new field of a plan does not compile until it is accepted here. */
const objectOf = <T>(fields: Record<keyof T, TSchema>) =>
  Type.Object(fields, { additionalProperties: false, errorText: "must be an object" });
const listOf = (items: TSchema, options: ArrayOptions = {}) =>
  Type.Array(items, { errorText: "must be a list", ...options });
const orNull = (schema: TSchema, errorText: string) => Type.Union([schema, Type.Null()], { errorText });
const seconds = Type.Number({ errorText: "must be a number of seconds" });
const text = Type.String({ errorText: "must be a text" });
const optionalText = Type.Optional(orNull(text, "must be a text or null"));
/** A field that is computed again. */
const ignored = Type.Optional(Type.Unknown());

const PLAN = objectOf<PlanJson>({
  source_duration: Type.Optional(seconds),
  kept_duration: ignored,
  frame_rate: ignored,
  segments: listOf(
    objectOf<PlanJson["segments"][number]>({
      start: seconds,
      end: seconds,
      start_frame: ignored,
      end_frame: ignored,
      text: optionalText,
      review: optionalText,
    }),
    { minItems: 1, emptyText: "must have at least one segment" },
  ),
  removed: Type.Optional(
    listOf(
      objectOf<PlanJson["removed"][number]>({
        start: seconds,
        end: seconds,
        reason: Type.Union(
          REMOVAL_REASONS.map((reason) => Type.Literal(reason)),
          { errorText: `must be one of ${REMOVAL_REASONS.join(", ")}` },
        ),
        rule: optionalText,
        text: Type.Optional(text),
      }),
    ),
  ),
  takes: Type.Optional(
    listOf(
      objectOf<PlanJson["takes"][number]>({
        line: text,
        chosen: Type.Integer({ minimum: 0, errorText: "must be an index from 0" }),
        candidates: listOf(
          objectOf<PlanJson["takes"][number]["candidates"][number]>({
            start: seconds,
            end: seconds,
            score: Type.Number({ errorText: "must be a number" }),
            complete: Type.Boolean({ errorText: "must be true or false" }),
          }),
        ),
      }),
    ),
  ),
  missing: Type.Optional(listOf(text)),
  warnings: Type.Optional(listOf(text)),
  language: Type.Optional(
    orNull(Type.String({ maxLength: MAX_LANGUAGE_CHARACTERS }), "must be a language code or null"),
  ),
});

/** Lists the first errors of a value. `root` is the field of the value itself. */
function listErrors(value: unknown, root: string): FieldError[] {
  const errors = new Map<string, FieldError>();
  // The iterator is lazy. A missing field has a second error, about its value.
  for (const { path, schema, type, value: found } of Value.Errors(PLAN, value)) {
    const isUnknown = type === ValueErrorType.ObjectAdditionalProperties;
    const field = toField(root, path, isUnknown);
    if (errors.has(field)) continue;
    const must = type === ValueErrorType.ArrayMinItems ? schema.emptyText : schema.errorText;
    const message = isUnknown
      ? "is not a field of a plan"
      : type === ValueErrorType.ObjectRequiredProperty
        ? "is missing"
        : `${must}, not ${describeValue(found)}`;
    errors.set(field, { field, message });
    if (errors.size === MAX_FIELD_ERRORS) break;
  }
  return [...errors.values()];
}

/** Converts a JSON pointer, such as `/segments/1/end`, to a field such as `segments[1].end`. */
function toField(root: string, pointer: string, isUnknown: boolean): string {
  const names = pointer.split("/").slice(1);
  return names.reduce((field, name, i) => {
    const isLast = isUnknown && i === names.length - 1;
    if (/^\d+$/.test(name) && !isLast) return `${field}[${name}]`;
    const shown = isLast ? shorten(name.replaceAll("~1", "/").replaceAll("~0", "~")) : name;
    return field === "" ? shown : `${field}.${shown}`;
  }, root);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isObject(value)) return "an object";
  return typeof value === "string" ? JSON.stringify(shorten(value)) : String(value);
}

function shorten(value: string): string {
  const characters = [...value.slice(0, 2 * MAX_SHOWN_CHARACTERS).replace(/\p{Cc}+/gu, " ")];
  return characters.length > MAX_SHOWN_CHARACTERS
    ? `${characters.slice(0, MAX_SHOWN_CHARACTERS).join("")}…`
    : characters.join("");
}

/** Parses a plan. Returns the first errors, each with its field, which is empty if it is about the whole text. */
export function parsePlanText(json: string): { ok: true; plan: WrittenPlan } | { ok: false; errors: FieldError[] } {
  const fail = (message: string, field = "") => ({ ok: false as const, errors: [{ field, message }] });
  if (json.trim() === "") return fail("is empty");
  let found: unknown;
  try {
    found = JSON.parse(json);
  } catch (error) {
    const cause = error instanceof Error ? error.message.replace(/^JSON Parse error: /, "") : "";
    return fail(`is not valid JSON: ${shorten(cause)}`);
  }
  const isWrapped = isObject(found) && Object.hasOwn(found, "plan");
  const value = isWrapped ? (found as Record<string, unknown>).plan : found;
  if (isWrapped && value === null) return fail("is null: the cut is not completed", "plan");
  const errors = Value.Check(PLAN, value) ? [] : listErrors(value, isWrapped ? "plan" : "");
  return errors.length > 0 ? { ok: false, errors } : { ok: true, plan: toWrittenPlan(value as Partial<PlanJson>) };
}

function toWrittenPlan(plan: Partial<PlanJson>): WrittenPlan {
  return {
    sourceDurationSeconds: plan.source_duration ?? null,
    segments: (plan.segments ?? []).map(({ start, end, ...rest }) => ({
      start,
      end,
      text: rest.text ?? null,
      review: rest.review ?? null,
    })),
    removed: (plan.removed ?? []).map((span) => ({ ...span, text: span.text ?? "" })),
    takes: plan.takes ?? [],
    missing: plan.missing ?? [],
    warnings: plan.warnings ?? [],
    language: plan.language ?? null,
  };
}
