/** Plan files of cuts that clients upload. */
import { AppError } from "./errors";
import { parsePlanText } from "./plan-text";

/** The plan of a recording of a day has a tenth of this size. */
export const MAX_PLAN_FILE_BYTES = 16 * 1024 * 1024;
const MAX_NESTING_LEVELS = 64;

/** Maximum duration of a plan. The times come from a client. */
const MAX_PLAN_SECONDS = 1e9;

/** Returns the seconds that a plan keeps. Throws `AppError` `unsupported_media` with the first problem. */
export function checkPlanBytes(bytes: Uint8Array): number {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidPlan("is not UTF-8 text");
  }
  if (isNestedDeeperThan(text, MAX_NESTING_LEVELS))
    throw invalidPlan(`is nested deeper than ${MAX_NESTING_LEVELS} levels`);
  const parsed = parsePlanText(text);
  if (parsed.ok) return sumKeptSeconds(parsed.plan.segments);
  const [first] = parsed.errors;
  throw invalidPlan([first?.field, first?.message].filter(Boolean).join(" "));
}

/** Segments of a file may overlap. */
function sumKeptSeconds(segments: readonly { start: number; end: number }[]): number {
  let [kept, reached] = [0, 0];
  for (const { start, end } of segments.toSorted((a, b) => a.start - b.start)) {
    kept += Math.max(0, end - Math.max(start, reached));
    reached = Math.max(reached, end);
  }
  return Math.min(kept, MAX_PLAN_SECONDS);
}

const invalidPlan = (problem: string): AppError =>
  new AppError("unsupported_media", `Cut file is not the plan of a cut: ${problem}.`);

/** Returns whether brackets outside of strings are nested deeper than `max`. */
function isNestedDeeperThan(text: string, max: number): boolean {
  let depth = 0;
  let isString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (isString) {
      if (character === "\\") i++;
      else if (character === '"') isString = false;
    } else if (character === '"') isString = true;
    else if (character === "[" || character === "{") {
      depth++;
      if (depth > max) return true;
    } else if (character === "]" || character === "}") depth--;
  }
  return false;
}
