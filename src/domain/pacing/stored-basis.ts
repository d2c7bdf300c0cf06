/**
 * The basis of a plan in the compact form that is stored with a cut. Values that the plan also contains are not stored
 * again.
 */
import { CUT_MODE_NAMES } from "../plan";
import type { PlanJson } from "../plan-json";
import type { EditedText } from "../plan-texts";
import type { PacingOptions, PlanBasis } from "../planning/basis";
import { type Finding, REMOVAL_REASONS } from "../planning/rules";
import type { DecidedSpan } from "../planning/spans";
import { type Span, TICKS_PER_SECOND } from "../time";
import { PlanWords } from "./plan-words";
import { ScoresCoder, STORED_RULES, TIME_STEPS } from "./stored-scores";
import { type ValueCoder, ValueReader, ValueWriter } from "./value-coder";

/**
 * The stored basis has no frames, because they are in the files of the recording. `texts`: corrected texts of all edits
 * so far. `pacing`: the options of the plan before its edits, if an editor has changed them.
 */
export type StoredBasis = Omit<PlanBasis, "frames"> & { texts: EditedText[]; pacing?: PacingOptions };

type BasisPlan = Pick<PlanJson, "segments" | "removed" | "takes">;

const SECOND_STEPS: readonly number[] = [1 / TICKS_PER_SECOND];

/** `plan` is the plan beside which the basis is stored. */
export function encodeBasis(basis: StoredBasis, plan: BasisPlan): Uint8Array {
  const writer = new ValueWriter();
  codeBasis(writer, basis, plan);
  return writer.finish();
}

/** Throws an error when the bytes are not a basis. */
export const decodeBasis = (bytes: Uint8Array, plan: BasisPlan): StoredBasis =>
  codeBasis(new ValueReader(bytes), EMPTY, plan);

const EMPTY: StoredBasis = { spans: [], wordPauses: [], edgeMargin: 0, texts: [] };

/** Writes the basis, or reads one: a reader ignores `basis`. */
function codeBasis(coder: ValueCoder, basis: StoredBasis, plan: BasisPlan): StoredBasis {
  const edgeMargin = coder.number("margin", TIME_STEPS, basis.edgeMargin);
  const spans = codeSpans(coder, basis.spans, plan);
  let end = 0;
  const wordPauses = codeList(coder, "pauses", basis.wordPauses, (pause = NO_SPAN) => {
    const span = codeSpan(coder, "pause", pause, end);
    end = span.end;
    return span;
  });
  const texts = codeList(coder, "texts", basis.texts, (one = { ...NO_SPAN, text: "" }) => ({
    start: coder.number("text.start", SECOND_STEPS, one.start),
    end: coder.number("text.end", SECOND_STEPS, one.end),
    text: coder.text("text", one.text),
  }));
  const hasPacing = coder.flag("pacing", basis.pacing !== undefined);
  return { spans, wordPauses, edgeMargin, texts, ...(hasPacing && { pacing: codePacing(coder, basis.pacing) }) };
}

const NO_SPAN: Span = { start: 0, end: 0 };

/** Writes or reads a list. `code` receives no item from a reader. */
function codeList<T>(coder: ValueCoder, name: string, items: readonly T[], code: (item: T | undefined) => T): T[] {
  const count = coder.count(name, items.length);
  const out: T[] = [];
  for (let i = 0; i < count; i++) out.push(code(items[i]));
  return out;
}

function codeSpan(coder: ValueCoder, name: string, { start, end }: Span, after: number): Span {
  const from = after + coder.number(`${name}.gap`, TIME_STEPS, start - after);
  const duration = coder.number(`${name}.duration`, TIME_STEPS, end - start);
  if (!(Number.isFinite(from) && duration >= 0)) throw new RangeError("A span has no valid times.");
  return { start: from, end: from + duration };
}

const NO_DECISION: DecidedSpan = { ...NO_SPAN, text: "", reason: null, findings: [] };

function codeSpans(coder: ValueCoder, spans: readonly DecidedSpan[], plan: BasisPlan): DecidedSpan[] {
  const words = new PlanWords(plan);
  const scores = new ScoresCoder(coder, plan);
  let [end, last] = [0, 0];
  return codeList(coder, "spans", spans, (given = NO_DECISION) => {
    const kind = coder.symbol(
      `reason${last}`,
      3,
      given.reason === null ? 0 : REMOVAL_REASONS.indexOf(given.reason) + 1,
    );
    last = kind;
    const span = codeSpan(coder, `span${kind}`, given, end);
    end = span.end;
    const text = words.code(coder, `text${kind}`, given.text);
    const findings = codeList(coder, `findings${kind}`, given.findings, (finding) =>
      codeFinding(coder, finding, { span, kind, scores }),
    );
    return { ...span, text, reason: REMOVAL_REASONS[kind - 1] ?? null, findings };
  });
}

type FindingContext = { span: Span; kind: number; scores: ScoresCoder };

function codeFinding(coder: ValueCoder, finding: Finding | undefined, { span, kind, scores }: FindingContext): Finding {
  const rule = STORED_RULES[coder.symbol(`rule${kind}`, 6, finding ? STORED_RULES.indexOf(finding.rule) : 0)];
  if (rule === undefined) throw new RangeError("A rule is unknown.");
  const start = span.start + coder.number("finding.start", TIME_STEPS, (finding?.start ?? 0) - span.start);
  const end = span.end - coder.number("finding.end", TIME_STEPS, span.end - (finding?.end ?? 0));
  if (!Number.isFinite(start + end)) throw new RangeError("A finding has no valid times.");
  return { start, end, rule, scores: scores.code(rule, finding?.scores, { start, end }) } as Finding;
}

function codePacing(coder: ValueCoder, pacing: PacingOptions | undefined): PacingOptions {
  const seconds = (name: keyof PacingOptions) => coder.number(name, SECOND_STEPS, Number(pacing?.[name] ?? 0));
  const flag = (name: keyof PacingOptions) => coder.flag(name, pacing?.[name] === true);
  return {
    mode: CUT_MODE_NAMES[coder.symbol("mode", 2, pacing ? CUT_MODE_NAMES.indexOf(pacing.mode) : 0)] ?? "natural",
    min_silence_seconds: seconds("min_silence_seconds"),
    padding_before_seconds: seconds("padding_before_seconds"),
    padding_after_seconds: seconds("padding_after_seconds"),
    remove_fillers: flag("remove_fillers"),
    remove_retakes: flag("remove_retakes"),
    remove_off_script: flag("remove_off_script"),
    remove_pauses: flag("remove_pauses"),
  };
}
