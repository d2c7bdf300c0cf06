/** The plan of a cut: kept and removed spans with their reasons. Plain data; times are ticks on the source's clock. */
import type { Finding, RemovalReason, RemovalRule } from "./planning/rules";
import type { Rational, Span } from "./time";

/** A kept span. Frames index the source's frame times, `endFrame` exclusive; null for audio. `review`: why to check. */
export type Segment = Span & {
  startFrame: number | null;
  endFrame: number | null;
  text: string;
  review: string | null;
};

export type RemovedSpan = Span & { reason: RemovalReason; text: string };
/** `rule` is the deciding rule; null in a plan edited from one that was stored before rules were recorded. */
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
  /** ISO 639-1 code of the assumed language; null if the cut was made from pauses alone. */
  language: string | null;
  /** The rules that applied to removed spans and to segments marked for review, with their scores. Sorted by time. */
  findings: Finding[];
};

export const CUT_MODE_NAMES = ["tight", "natural", "loose"] as const;
export type CutMode = (typeof CUT_MODE_NAMES)[number];

/** The mode of a cut that keeps the whole recording, to be cut by hand. It is not planned. */
export const MANUAL_MODE = "manual";

/** The resolved options of a cut. Times are in seconds, as in the API. */
export type CutOptions = {
  mode: CutMode | typeof MANUAL_MODE;
  min_silence_seconds: number;
  padding_before_seconds: number;
  padding_after_seconds: number;
  remove_fillers: boolean;
  remove_retakes: boolean;
};

/** The defaults of each mode that plans. */
export const CUT_MODES: Record<CutMode, CutOptions & { mode: CutMode }> = {
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

/** Minimum and maximum of the options of a cut, in seconds. */
export const CUT_OPTION_LIMITS = {
  min_silence_seconds: { min: 0.1, max: 10 },
  padding_before_seconds: { min: 0, max: 2 },
  padding_after_seconds: { min: 0, max: 2 },
} as const;

/** The options of a cut by hand, which has no use for them. */
export const MANUAL_OPTIONS: CutOptions = {
  ...CUT_MODES.natural,
  mode: MANUAL_MODE,
  remove_fillers: false,
  remove_retakes: false,
};
