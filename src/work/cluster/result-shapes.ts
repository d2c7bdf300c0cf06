/**
 * The shapes of the results and errors that workers report. A hijacked worker could send anything, and stored values
 * are displayed and used in computations.
 */
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { AppError, JOB_CODES } from "../../domain/errors";
import { JobKilled, JobYielded } from "../../domain/jobs";
import type { MediaInfo, SniffedMedia } from "../../domain/media";
import { MAX_PLAN_FILE_BYTES } from "../../domain/plan-file";
import { REMOVAL_RULES, REVIEW_RULES } from "../../domain/planning/rules";
import { count, probeFacts, text } from "../../domain/probe-schema";
import { REVIEW_KINDS } from "../../domain/review";
import { type DetectedLanguage, MAX_PARTIAL_WORDS } from "../../domain/speech";
import { MAX_WORD_CHARACTERS } from "../assets/prepared-check";
import { jobErrorCodec } from "../job-child/error-codec";
import type { WordsCheckpoint } from "../jobs/analyze-speech";
import type { CutOutput } from "../jobs/cut-run";
import type { RenderOutput } from "../jobs/render-run";

/** A worker reported an invalid result. Another attempt may run elsewhere. */
export class InvalidResultError extends Error {
  constructor(what: string) {
    super(`The worker's result is not valid: ${what}`);
    this.name = "InvalidResultError";
  }
}

const renderFacts = Type.Object({
  strategy: Type.Union([Type.Literal("smart"), Type.Literal("chunked"), Type.Literal("audio")]),
  encodedShare: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()]),
  reasons: Type.Array(text(1_000), { maxItems: 100 }),
  warnings: Type.Array(text(4_096), { maxItems: 100 }),
  madeWith: Type.Optional(text(200)),
});

const cutResult = Type.Object({
  plan: text(MAX_PLAN_FILE_BYTES),
  /** Missing in the results of older workers. */
  basis: Type.Optional(text(MAX_PLAN_FILE_BYTES)),
  items: Type.Optional(Type.Union([text(MAX_PLAN_FILE_BYTES), Type.Null()])),
  recognized: Type.Object({ windows: count(), audio_ms: count(), duration_ms: count() }),
});

const ticks = Type.Integer({ minimum: 0 });

const wordsCheckpoint = Type.Object({
  from: count(),
  words: Type.Array(
    Type.Object({
      text: text(MAX_WORD_CHARACTERS),
      start: ticks,
      end: ticks,
      confidence: Type.Number(),
    }),
    { minItems: 1, maxItems: MAX_PARTIAL_WORDS },
  ),
});

const audioCheckpoint = Type.Object({
  /** Missing in the results of older workers. */
  language: Type.Optional(
    Type.Union([
      Type.Object({
        code: Type.String({ pattern: "^[a-z]{2,3}$" }),
        confidence: Type.Number({ minimum: 0, maximum: 1 }),
      }),
      Type.Null(),
    ]),
  ),
});

const RULES: readonly string[] = [...REMOVAL_RULES, ...REVIEW_RULES];
/** The items of a review as they are stored: kind, start, end, reason, rule and confidence. */
const reviewItems = Type.Array(
  Type.Tuple([
    Type.Union(REVIEW_KINDS.map((kind) => Type.Literal(kind))),
    ticks,
    ticks,
    text(1_000),
    Type.Union([...RULES.map((rule) => Type.Literal(rule)), Type.Null()]),
    Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()]),
  ]),
);

/** Returns whether a text has the items of a review. */
function isItems(sent: string): boolean {
  try {
    return Value.Check(reviewItems, JSON.parse(sent));
  } catch {
    return false;
  }
}

/** Returns only the properties that the schema has. */
function parse<S extends TSchema>(schema: S, value: unknown, what: string): Static<S> {
  if (!Value.Check(schema, value)) throw new InvalidResultError(what);
  return Value.Clean(schema, structuredClone(value)) as Static<S>;
}

/** Returns a probe result. Throws `InvalidResultError`. */
export const requireProbeFacts = (value: unknown): { info: MediaInfo; sniffed: SniffedMedia } =>
  parse(probeFacts, value, "probe result");

/** Returns the language of a prepared recording. Throws `InvalidResultError`. */
export const parseAudioCheckpoint = (value: unknown): { language: DetectedLanguage | null } => ({
  language: parse(audioCheckpoint, value, "checkpoint").language ?? null,
});

export const isWordsCheckpoint = (value: unknown): boolean => (value as { kind?: unknown } | null)?.kind === "words";

/** Returns a report of recognized words. Throws `InvalidResultError`. */
export const parseWordsCheckpoint = (value: unknown): WordsCheckpoint => ({
  kind: "words",
  blobs: [],
  ...parse(wordsCheckpoint, value, "checkpoint"),
});

/** Returns a render's report about its file. Throws `InvalidResultError`. */
export const parseRenderFacts = (value: unknown): Omit<RenderOutput, "blobs"> =>
  parse(renderFacts, value, "render result");

/** Returns the plan of a cut and its basis as texts that are not checked. Throws `InvalidResultError`. */
export function parseCutResult(value: unknown): Pick<CutOutput, "plan" | "basis" | "items" | "recognized"> {
  const { basis = null, items = null, ...result } = parse(cutResult, value, "cut result");
  if (items !== null && !isItems(items)) throw new InvalidResultError("review items");
  return { ...result, basis, items };
}

/**
 * `cancelled` and `storage_full` are not among them: only the head knows whether its user has cancelled. The other is
 * `isFullWorkerDisk`.
 */
const KNOWN_CODES: readonly string[] = JOB_CODES.filter((code) => code !== "cancelled" && code !== "storage_full");

/**
 * Returns the error of a failed execution. A worker may be hijacked by the media that it reads, so that only known
 * codes of jobs are kept.
 */
export function decodeExecutionError(sent: object): Error {
  const { kind, message } = sent as { kind?: unknown; message?: unknown };
  if (typeof kind !== "string" || typeof message !== "string") return new Error("The worker reported no valid error.");
  const error = jobErrorCodec.decode({ ...sent, kind, message });
  if (error instanceof JobYielded || error instanceof JobKilled) return error;
  if (error instanceof AppError) {
    const { code, details } = error;
    if (!KNOWN_CODES.includes(code)) return new Error(`The worker reported: ${error.message}`);
    return new AppError(code, error.message, details.isPermanent === true ? { isPermanent: true } : {});
  }
  return new Error(`The worker reported: ${error instanceof Error ? error.message : "an error"}`);
}

/** Returns whether an execution failed because its worker had no disk space left, which says nothing about the job. */
export function isFullWorkerDisk(sent: object): boolean {
  const { kind, code } = sent as { kind?: unknown; code?: unknown };
  return kind === "app" && code === "storage_full";
}
