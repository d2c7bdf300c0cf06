/** Reads the basis of a plan as older versions have stored it: as JSON text. Texts are counts of words of the plan. */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { CUT_MODE_NAMES } from "../plan";
import type { PlanJson } from "../plan-json";
import { explainRule } from "../planning/explain-rules";
import { type Finding, REMOVAL_REASONS, REMOVAL_RULES, REVIEW_RULES, type Rule } from "../planning/rules";
import type { DecidedSpan } from "../planning/spans";
import { PlanWords } from "./plan-words";
import type { StoredBasis } from "./stored-basis";

const integer = Type.Integer();
const RULES: readonly string[] = [...REMOVAL_RULES, ...REVIEW_RULES];

const STORED = Type.Object({
  version: Type.Literal(1),
  margin: integer,
  texts: Type.Array(Type.Object({ start: Type.Number(), end: Type.Number(), text: Type.String() })),
  /** Starts and ends of pauses in words. */
  pauses: Type.Optional(Type.Array(integer)),
  pacing: Type.Optional(
    Type.Object({
      mode: Type.Union(CUT_MODE_NAMES.map((mode) => Type.Literal(mode))),
      min_silence_seconds: Type.Number(),
      padding_before_seconds: Type.Number(),
      padding_after_seconds: Type.Number(),
      remove_fillers: Type.Boolean(),
      remove_retakes: Type.Boolean(),
      remove_off_script: Type.Boolean(),
      remove_pauses: Type.Boolean(),
    }),
  ),
  /** Distinct rules with their scores. */
  rules: Type.Array(
    Type.Tuple([
      Type.Union(RULES.map((rule) => Type.Literal(rule))),
      Type.Record(Type.String(), Type.Union([Type.Number(), Type.String(), Type.Null()])),
    ]),
  ),
  /** Distance from the span before, duration, index of the reason or -1, text, findings as three numbers each. */
  spans: Type.Array(
    Type.Tuple([
      integer,
      Type.Integer({ minimum: 0 }),
      Type.Integer({ minimum: -1, maximum: REMOVAL_REASONS.length - 1 }),
      /** The number of words from where the last span has ended, or the words. */
      Type.Union([Type.Integer({ minimum: 0 }), Type.String()]),
      Type.Array(integer),
    ]),
  ),
});
type StoredRule = Static<typeof STORED>["rules"][number];

/** Returns the basis; null if the text is not one. */
export function decodeOlderBasis(json: string, plan: Pick<PlanJson, "segments" | "removed">): StoredBasis | null {
  let stored: unknown;
  try {
    stored = JSON.parse(json);
  } catch {
    return null;
  }
  if (!Value.Check(STORED, stored) || !stored.rules.every(canBeExplained)) return null;
  const words = new PlanWords(plan);
  let end = 0;
  const spans: DecidedSpan[] = [];
  for (const [distance, duration, reason, text, numbers] of stored.spans) {
    const start = end + distance;
    end = start + duration;
    const findings: Finding[] = [];
    for (let i = 0; i + 2 < numbers.length; i += 3) {
      const found = stored.rules[numbers[i]!];
      if (!found) return null;
      const [rule, scores] = found as [Rule, unknown];
      findings.push({ start: start + numbers[i + 1]!, end: end - numbers[i + 2]!, rule, scores } as Finding);
    }
    if (typeof text === "string") words.skip(text);
    const own = typeof text === "string" ? text : words.take(text);
    spans.push({ start, end, text: own, reason: REMOVAL_REASONS[reason] ?? null, findings });
  }
  const { pauses = [], margin: edgeMargin, texts, pacing } = stored;
  const wordPauses = pauses.flatMap((start, i) => (i % 2 === 0 ? [{ start, end: pauses[i + 1] ?? start }] : []));
  return { spans, wordPauses, edgeMargin, texts, ...(pacing && { pacing }) };
}

/** Returns whether a rule has the scores that it needs. A worker may have sent any. */
function canBeExplained([rule, scores]: StoredRule): boolean {
  try {
    return explainRule({ start: 0, end: 0, rule, scores } as unknown as Finding) !== "";
  } catch {
    return false;
  }
}
