/** Parses a plan edited by a person or program: the JSON of `cut --plan`, or the API's cut resource around it. */
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

/** Returns null if the value is valid, otherwise what it must be. */
type FieldCheck = (value: unknown, field: string, errors: FieldError[]) => string | null;
type FieldRule = { check: FieldCheck; required: boolean };
/** A rule for each field, so that a new field of a plan does not compile until it is accepted here. */
type FieldRules<T> = Record<keyof T, FieldRule>;

const MAX_SHOWN_CHARACTERS = 40;
const MAX_LANGUAGE_CHARACTERS = 35;

const required = (check: FieldCheck): FieldRule => ({ check, required: true });
const optional = (check: FieldCheck): FieldRule => ({ check, required: false });
const anything: FieldCheck = () => null;
const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const seconds: FieldCheck = (value) => (isNumber(value) ? null : "must be a number of seconds");
const number: FieldCheck = (value) => (isNumber(value) ? null : "must be a number");
const text: FieldCheck = (value) => (typeof value === "string" ? null : "must be a text");
const textOrNull: FieldCheck = (value) => (value === null ? null : text(value, "", []) && "must be a text or null");
const boolean: FieldCheck = (value) => (typeof value === "boolean" ? null : "must be true or false");
const index: FieldCheck = (value) =>
  Number.isInteger(value) && (value as number) >= 0 ? null : "must be an index from 0";
const reason: FieldCheck = (value) =>
  REMOVAL_REASONS.some((known) => known === value) ? null : `must be one of ${REMOVAL_REASONS.join(", ")}`;
const language: FieldCheck = (value) =>
  value === null || (typeof value === "string" && value.length <= MAX_LANGUAGE_CHARACTERS)
    ? null
    : "must be a language code or null";

/** Returns a check for a list whose elements pass `check`. */
function listOf(check: FieldCheck, emptyMessage: string | null = null): FieldCheck {
  return (value, field, errors) => {
    if (!Array.isArray(value)) return "must be a list";
    if (value.length === 0 && emptyMessage !== null) return emptyMessage;
    for (const [i, element] of value.entries()) checkValue(check, element, `${field}[${i}]`, errors);
    return null;
  };
}

/** Returns a check for an object with exactly the fields of `rules`. */
function objectOf<T>(rules: FieldRules<T>): FieldCheck {
  const known = Object.entries<FieldRule>(rules);
  return (value, field, errors) => {
    if (!isObject(value)) return "must be an object";
    const prefix = field === "" ? "" : `${field}.`;
    for (const [name, rule] of known) {
      if (Object.hasOwn(value, name)) checkValue(rule.check, value[name], prefix + name, errors);
      else if (rule.required) addError(errors, prefix + name, "is missing");
    }
    for (const name of Object.keys(value))
      if (!Object.hasOwn(rules, name)) addError(errors, prefix + shorten(name), "is not a field of a plan");
    return null;
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function addError(errors: FieldError[], field: string, message: string): void {
  if (errors.length < MAX_FIELD_ERRORS) errors.push({ field, message });
}

function checkValue(check: FieldCheck, value: unknown, field: string, errors: FieldError[]): void {
  if (errors.length >= MAX_FIELD_ERRORS) return;
  const message = check(value, field, errors);
  if (message !== null) addError(errors, field, `${message}, not ${describeValue(value)}`);
}

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

const SEGMENT: FieldRules<PlanJson["segments"][number]> = {
  start: required(seconds),
  end: required(seconds),
  // Recomputed from the times.
  start_frame: optional(anything),
  end_frame: optional(anything),
  text: optional(textOrNull),
  review: optional(textOrNull),
};
const REMOVED: FieldRules<PlanJson["removed"][number]> = {
  start: required(seconds),
  end: required(seconds),
  reason: required(reason),
  rule: optional(textOrNull),
  text: optional(text),
};
const CANDIDATE: FieldRules<PlanJson["takes"][number]["candidates"][number]> = {
  start: required(seconds),
  end: required(seconds),
  score: required(number),
  complete: required(boolean),
};
const TAKE: FieldRules<PlanJson["takes"][number]> = {
  line: required(text),
  chosen: required(index),
  candidates: required(listOf(objectOf(CANDIDATE))),
};
const PLAN: FieldRules<PlanJson> = {
  source_duration: optional(seconds),
  // Recomputed from the segments and the recording.
  kept_duration: optional(anything),
  frame_rate: optional(anything),
  segments: required(listOf(objectOf(SEGMENT), "must have at least one segment")),
  removed: optional(listOf(objectOf(REMOVED))),
  takes: optional(listOf(objectOf(TAKE))),
  missing: optional(listOf(text)),
  warnings: optional(listOf(text)),
  language: optional(language),
};
const checkPlan = objectOf(PLAN);

/** Parses a plan. Returns the first errors, each with its field, which is empty if it is about the whole text. */
export function parsePlanText(json: string): { ok: true; plan: WrittenPlan } | { ok: false; errors: FieldError[] } {
  const errors: FieldError[] = [];
  const found = parseJson(json, errors);
  if (errors.length > 0) return { ok: false, errors };
  const isWrapped = isObject(found) && Object.hasOwn(found, "plan");
  const value = isWrapped ? found.plan : found;
  if (isWrapped && value === null) addError(errors, "plan", "is null: the cut is not completed");
  else checkValue(checkPlan, value, isWrapped ? "plan" : "", errors);
  return errors.length > 0 ? { ok: false, errors } : { ok: true, plan: toWrittenPlan(value as Partial<PlanJson>) };
}

function parseJson(json: string, errors: FieldError[]): unknown {
  if (json.trim() === "") {
    addError(errors, "", "is empty");
    return null;
  }
  try {
    return JSON.parse(json);
  } catch (error) {
    const cause = error instanceof Error ? error.message.replace(/^JSON Parse error: /, "") : "";
    addError(errors, "", `is not valid JSON: ${shorten(cause)}`);
    return null;
  }
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
