/** The basis of a plan in the compact form that is stored with a cut. Texts are counts of words of the plan. */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { CUT_MODE_NAMES } from "../plan";
import type { PlanJson } from "../plan-json";
import type { EditedText } from "../plan-texts";
import type { PacingOptions, PlanBasis } from "../planning/basis";
import { explainRule } from "../planning/explain-rules";
import { type Finding, REMOVAL_REASONS, REMOVAL_RULES, REVIEW_RULES, type Rule } from "../planning/rules";
import type { DecidedSpan } from "../planning/spans";

/**
 * The stored basis has no frames, because they are in the files of the recording. `texts`: corrected texts of all edits
 * so far. `pacing`: the options of the plan before its edits, if an editor has changed them.
 */
export type StoredBasis = Omit<PlanBasis, "frames"> & { texts: EditedText[]; pacing?: PacingOptions };

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
type Stored = Static<typeof STORED>;

/** Returns the basis as JSON text. `plan` is the plan beside which it is stored. */
export function encodeBasis(
  { spans, wordPauses, edgeMargin, texts, pacing }: StoredBasis,
  plan: Pick<PlanJson, "segments" | "removed">,
): string {
  const words = listWords(plan);
  const rules: Stored["rules"] = [];
  const known = new Map<string, number>();
  const indexOf = ({ rule, scores }: Finding): number => {
    const key = JSON.stringify([rule, scores]);
    const index = known.get(key) ?? rules.push([rule, scores as Stored["rules"][number][1]]) - 1;
    known.set(key, index);
    return index;
  };
  let [end, word] = [0, 0];
  const stored = spans.map((span): Stored["spans"][number] => {
    const own = span.text === "" ? [] : span.text.split(" ");
    const isNext = own.every((text, i) => text === words[word + i]);
    const findings = span.findings.flatMap((one) => [indexOf(one), one.start - span.start, span.end - one.end]);
    const reason = span.reason === null ? -1 : REMOVAL_REASONS.indexOf(span.reason);
    const row: Stored["spans"][number] = [
      span.start - end,
      span.end - span.start,
      reason,
      isNext ? own.length : span.text,
      findings,
    ];
    end = span.end;
    word = isNext ? word + own.length : findWords(words, word, own);
    return row;
  });
  const pauses = wordPauses.length > 0 ? { pauses: wordPauses.flatMap((one) => [one.start, one.end]) } : {};
  return JSON.stringify({
    version: 1,
    margin: edgeMargin,
    texts,
    ...(pacing && { pacing }),
    ...pauses,
    rules,
    spans: stored,
  } satisfies Stored);
}

/** Returns the stored basis; null if the text is not one. */
export function decodeBasis(json: string, plan: Pick<PlanJson, "segments" | "removed">): StoredBasis | null {
  let stored: unknown;
  try {
    stored = JSON.parse(json);
  } catch {
    return null;
  }
  if (!Value.Check(STORED, stored) || !stored.rules.every(canBeExplained)) return null;
  const words = listWords(plan);
  let [end, word] = [0, 0];
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
    const isCount = typeof text === "number";
    spans.push({
      start,
      end,
      text: isCount ? words.slice(word, word + text).join(" ") : text,
      reason: REMOVAL_REASONS[reason] ?? null,
      findings,
    });
    word = isCount ? word + text : findWords(words, word, text.split(" "));
  }
  const { pauses = [], margin: edgeMargin, texts, pacing } = stored;
  const wordPauses = pauses.flatMap((start, i) => (i % 2 === 0 ? [{ start, end: pauses[i + 1] ?? start }] : []));
  return { spans, wordPauses, edgeMargin, texts, ...(pacing && { pacing }) };
}

/** Returns whether a rule has the scores that it needs. A worker may have sent any. */
function canBeExplained([rule, scores]: Stored["rules"][number]): boolean {
  try {
    return explainRule({ start: 0, end: 0, rule, scores } as unknown as Finding) !== "";
  } catch {
    return false;
  }
}

/** Returns the words of a plan in order of time. */
const listWords = ({ segments, removed }: Pick<PlanJson, "segments" | "removed">): string[] =>
  [...segments, ...removed]
    .toSorted((a, b) => a.start - b.start)
    .flatMap(({ text }) => (text === "" ? [] : text.split(" ")));

const MAX_SKIPPED_WORDS = 50;

/** Returns the index after the next place nearby where all of these words stand, else `from`. */
function findWords(words: readonly string[], from: number, wanted: readonly string[]): number {
  for (let at = Math.max(0, from - MAX_SKIPPED_WORDS); at <= from + MAX_SKIPPED_WORDS; at++)
    if (wanted.every((text, i) => text === words[at + i])) return at + wanted.length;
  return from;
}
