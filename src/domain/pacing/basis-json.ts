/** The basis of a plan as the API shows it: times in seconds, except the listed times of frames. */
import type { PlanBasis } from "../planning/basis";
import { rateFinding } from "../planning/explain-rules";
import type { Finding, RemovalReason } from "../planning/rules";
import type { DecidedSpan } from "../planning/spans";
import {
  type FrameTimes,
  fromSeconds,
  type Rational,
  type Span,
  spanFromSeconds,
  spanToSeconds,
  toSeconds,
} from "../time";

/** `confidence` is 0 to 1. Times in `scores` are in microseconds. */
export type FindingJson = Finding & { confidence: number };

type SpanJson = { start: number; end: number; reason: RemovalReason | null; text: string; findings: FindingJson[] };

type FramesJson =
  | { kind: "constant"; rate: Rational; first: number; count: number }
  /** `times` and `end` are in microseconds. */
  | { kind: "listed"; rate: Rational; times: number[]; end: number };

export type BasisJson = { edge_margin: number; frames: FramesJson | null; spans: SpanJson[]; word_pauses: Span[] };

/** Longer lists of frame times are not shown: a browser then does not snap to frames. */
const MAX_LISTED_FRAMES = 250_000;

export const basisToJson = ({ edgeMargin, frames, spans, wordPauses }: PlanBasis): BasisJson => ({
  edge_margin: toSeconds(edgeMargin),
  frames: framesToJson(frames),
  spans: spans.map(({ start, end, reason, text, findings }) => ({
    ...spanToSeconds({ start, end }),
    reason,
    text,
    findings: findings.map(findingToJson),
  })),
  word_pauses: wordPauses.map(spanToSeconds),
});

export const findingToJson = (finding: Finding): FindingJson => ({
  ...spanToSeconds(finding),
  confidence: rateFinding(finding),
});

export const basisFromJson = ({ edge_margin, frames, spans, word_pauses }: BasisJson): PlanBasis => ({
  edgeMargin: fromSeconds(edge_margin),
  frames: framesFromJson(frames),
  spans: spans.map(
    (span): DecidedSpan => ({
      ...spanFromSeconds(span),
      findings: span.findings.map(({ confidence: _, ...finding }) => spanFromSeconds(finding) as Finding),
    }),
  ),
  wordPauses: word_pauses.map(spanFromSeconds),
});

function framesToJson(frames: FrameTimes | null): FramesJson | null {
  if (frames?.kind !== "listed") return frames && { ...frames, first: toSeconds(frames.first) };
  const { rate, times, end } = frames;
  return times.length > MAX_LISTED_FRAMES ? null : { kind: "listed", rate, times: [...times], end };
}

function framesFromJson(frames: FramesJson | null): FrameTimes | null {
  if (frames?.kind !== "listed") return frames && { ...frames, first: fromSeconds(frames.first) };
  return { ...frames, times: Float64Array.from(frames.times) };
}
