/** Codes the scores of findings. Times are relative to the finding, and lines are those of the plan's takes. */
import type { PlanJson } from "../plan-json";
import type { Rule, RuleMatch, RuleScores } from "../planning/rules";
import { ENERGY_HOP } from "../speech";
import type { Span } from "../time";
import type { ValueCoder } from "./value-coder";

/** `position` is a time of the recording, `duration` usually that of the finding, `line` a line of the plan. */
type ScoreValueKind = "position" | "duration" | "ticks" | "decimal" | "count" | "line";
/** A kind with a question mark may be null. */
type ScoreKind = ScoreValueKind | `${ScoreValueKind}?`;
type ScoreKinds<Scores> = {
  [Name in keyof Scores]: null extends Scores[Name] ? `${ScoreValueKind}?` : ScoreValueKind;
};

const PAUSE = { pause: "ticks", minPause: "ticks" } as const;
const ALIGNED_FILLER = { alignment: "decimal", otherAlignment: "decimal?", confidence: "decimal?" } as const;
const EXCISION = { alignment: "decimal", alignmentWithout: "decimal", duration: "duration" } as const;
const VOICE = { duration: "duration", voicedShare: "decimal" } as const;
const REPETITION = {
  pause: "ticks",
  repeatedAt: "position",
  words: "count",
  similarity: "decimal",
  alignment: "decimal?",
} as const;
const TAKE = { line: "line", quality: "decimal", keptQuality: "decimal?", keptAt: "position?" } as const;

/**
 * The scores of each rule. Rules are stored as indexes of this table, and scores in its order: new rules go to the end,
 * and no row is moved or removed, because stored plans would be read wrongly.
 */
const SCORES: { [R in Rule]: ScoreKinds<RuleScores[R]> } = {
  "pause.long": PAUSE,
  "pause.leading": PAUSE,
  "pause.trailing": PAUSE,
  "pause.beside_removed": PAUSE,
  "filler.written": { duration: "duration", pause: "ticks" },
  "filler.unwritten": ALIGNED_FILLER,
  "filler.spelled_out": ALIGNED_FILLER,
  "filler.within_line": EXCISION,
  "filler.wordless_voice": VOICE,
  "stutter.word": REPETITION,
  "false_start.prefix": REPETITION,
  "false_start.inside_phrase": REPETITION,
  "false_start.broken_off": REPETITION,
  "false_start.between_takes": REPETITION,
  "false_start.within_line": EXCISION,
  "retake.after_remark": REPETITION,
  "retake.repeated_line": REPETITION,
  "retake.repeated_later": REPETITION,
  "retake.worse_take": TAKE,
  "retake.last_good_take": TAKE,
  "retake.within_take": TAKE,
  "remark.between_takes": REPETITION,
  "off_script.no_line": { minSimilarity: "decimal" },
  "off_script.unrecognized": VOICE,
  "noise.outside_speech": VOICE,
  "noise.unvoiced": VOICE,
  "manual.edit": {},
  "review.unrecognized_speech": VOICE,
  "review.different_words": REPETITION,
  "review.different_sound": REPETITION,
  "review.different_ending": REPETITION,
  "review.deliberate_repetition": REPETITION,
  "review.other_speaker": REPETITION,
  "review.list": REPETITION,
  "review.uncertain_retake": REPETITION,
  "review.assembled_takes": { line: "line", quality: "decimal" },
  "review.differs_from_script": { line: "line", similarity: "decimal", alignment: "decimal?" },
};

export const STORED_RULES = Object.keys(SCORES) as readonly Rule[];

/** Most times are those of an energy level, or in the middle between two. */
export const TIME_STEPS: readonly number[] = [ENERGY_HOP, ENERGY_HOP / 2, 1];
const DECIMAL_STEPS: readonly number[] = [1 / 1000];

type StoredScores = Record<string, number | string | null>;

export class ScoresCoder {
  readonly #coder: ValueCoder;
  readonly #lines: readonly string[];
  readonly #last = new Map<Rule, { scores: StoredScores; json: string | undefined }>();
  #line = 0;

  constructor(coder: ValueCoder, { takes }: Pick<PlanJson, "takes">) {
    this.#coder = coder;
    this.#lines = takes.map(({ line }) => line);
  }

  /** Writes the scores, or reads those of a rule. */
  code<R extends Rule>(rule: R, given: RuleMatch<R>["scores"] | undefined, span: Span): RuleMatch<R>["scores"] {
    const last = this.#last.get(rule);
    if (last !== undefined && this.#coder.flag(`${rule}.same`, last.json === JSON.stringify(given)))
      return { ...last.scores } as RuleMatch<R>["scores"];
    const scores: StoredScores = {};
    for (const [name, kind] of Object.entries<ScoreKind>(SCORES[rule]))
      scores[name] = this.#codeScore(
        `${kind}.${name}`,
        kind,
        (given as StoredScores | undefined)?.[name] ?? null,
        span,
      );
    this.#last.set(rule, { scores, json: JSON.stringify(given) });
    return scores as RuleMatch<R>["scores"];
  }

  /** A score that is not finite is omitted. */
  #codeScore(
    name: string,
    kind: ScoreKind,
    score: number | string | null,
    { start, end }: Span,
  ): number | string | null {
    const value = typeof score === "number" && !Number.isFinite(score) ? null : score;
    if (kind.endsWith("?") && this.#coder.flag(`${name}.null`, value === null)) return null;
    if (kind === "line") return this.#codeLine(String(value ?? ""));
    const given = typeof value === "number" ? value : 0;
    if (kind === "count") return this.#coder.number(name, [1], given);
    if (kind.startsWith("decimal")) return this.#coder.number(name, DECIMAL_STEPS, given);
    const from = kind.startsWith("position") ? end : kind === "duration" ? end - start : 0;
    const time = from + this.#coder.number(name, TIME_STEPS, given - from);
    if (!Number.isFinite(time)) throw new RangeError("A score is not finite.");
    return time;
  }

  /** Lines mostly follow each other. */
  #codeLine(line: string): string {
    const nearest = [this.#line, this.#line + 1].find((at) => this.#lines[at] === line);
    const index = nearest ?? this.#lines.indexOf(line);
    if (!this.#coder.flag("line?", index >= 0)) return this.#coder.text("line", line);
    this.#line += this.#coder.signed("line", index - this.#line);
    const found = this.#lines[this.#line];
    if (found === undefined) throw new RangeError("A line is not in the plan.");
    return found;
  }
}
