/** The plan of a cut: what is kept, what is removed and why. Plain data; times are ticks on the source's clock. */
import type { Finding, RemovalReason, RemovalRule } from "./planning/rules";
import type { Rational, Span } from "./time";

/** A kept stretch. Frames index the source's frame times, `endFrame` exclusive; null for audio. `review`: why an editor should check it. */
export type Segment = Span & {
  startFrame: number | null;
  endFrame: number | null;
  text: string;
  review: string | null;
};

export type RemovedSpan = Span & { reason: RemovalReason; text: string };
/** `rule` is the rule that decided; null in a plan edited from one that was stored before rules were recorded. */
export type Removed = RemovedSpan & { rule: RemovalRule | null };

export type Candidate = Span & { score: number; complete: boolean };

/** All takes found of one line; `chosen` indexes `candidates`. */
export type Take = { line: string; chosen: number; candidates: Candidate[] };

export type Plan = {
  sourceDuration: number;
  keptDuration: number;
  frameRate: Rational | null;
  segments: Segment[];
  removed: Removed[];
  takes: Take[];
  missing: string[];
  warnings: string[];
  /** ISO 639-1 code of the language that was assumed; null when the cut was made from pauses alone. */
  language: string | null;
  /** The rules that applied, with the scores they decided on: for every removed span and every segment marked for review. Sorted by time. */
  findings: Finding[];
};

export const CUT_MODE_NAMES = ["tight", "natural", "loose"] as const;
export type CutMode = (typeof CUT_MODE_NAMES)[number];

/** Resolved options of a cut; the times in seconds as the API takes them. */
export type CutOptions = {
  mode: CutMode;
  min_silence_seconds: number;
  padding_before_seconds: number;
  padding_after_seconds: number;
  remove_fillers: boolean;
  remove_retakes: boolean;
};

/** The defaults of each mode. */
export const CUT_MODES: Record<CutMode, CutOptions> = {
  tight: {
    mode: "tight",
    min_silence_seconds: 0.25,
    padding_before_seconds: 0.04,
    padding_after_seconds: 0.06,
    remove_fillers: true,
    remove_retakes: true,
  },
  natural: {
    mode: "natural",
    min_silence_seconds: 0.5,
    padding_before_seconds: 0.12,
    padding_after_seconds: 0.18,
    remove_fillers: true,
    remove_retakes: true,
  },
  loose: {
    mode: "loose",
    min_silence_seconds: 0.9,
    padding_before_seconds: 0.25,
    padding_after_seconds: 0.35,
    remove_fillers: false,
    remove_retakes: true,
  },
};
