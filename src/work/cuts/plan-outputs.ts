/**
 * Creates timelines, subtitles and edited plans from a completed plan. Runs in a job's child process, because plans and
 * transcripts grow with the uploaded recording.
 */
import { AppError, requireFound } from "../../domain/errors";
import { toFileStem } from "../../domain/file-names";
import { findPlanFrameRate } from "../../domain/media";
import { type BasisJson, basisToJson } from "../../domain/pacing/basis-json";
import { mergeTexts, setSegments } from "../../domain/pacing/edits";
import { judgePlan } from "../../domain/pacing/judge-plan";
import { type PacingOptions, repace } from "../../domain/pacing/repace";
import type { CutOptions } from "../../domain/plan";
import { type PlanJson, planToJson } from "../../domain/plan-json";
import { type EditedText, listPlanWords } from "../../domain/plan-texts";
import { assembleBasis, toPacingOptions } from "../../domain/planning/basis";
import { type ExplainedFinding, explainFindings } from "../../domain/planning/explain-rules";
import { formatItems, listPlanItems } from "../../domain/review";
import { joinTexts, toSegments } from "../../domain/segments";
import { createCues, formatSrt, formatVtt } from "../../domain/subtitles";
import { spanToSeconds } from "../../domain/time";
import { type ExportOptions, exportTimeline } from "../../domain/timeline";
import type { TranscriptFormat } from "../../domain/transcript-text";
import { replaceWords } from "../../domain/vocabulary/apply";
import type { VocabularyEntry } from "../../domain/vocabulary/entries";
import { type AnalysisPaths, readProbed, readShownWords, readSpeechAnalysis } from "../assets/prepared-files";
import { findReplacements } from "../vocabulary/replace-words";
import { type PlanEdit, requireValidEdit } from "./plan-edits";
import { packBasis, packTexts, unpackBasis, unpackTexts } from "./stored-basis";
import { createTranscript } from "./transcript-file";

/** `isBase64`: the body is not text. */
export type PlanFile = { filename: string; contentType: string; body: string; isBase64?: boolean };

/** A completed cut: the files of its asset, its `PlanJson` as text, and the name of the source file. */
export type CompletedCut = { paths: AnalysisPaths; plan: string; name: string };

/** Stored basis from which the plan of a completed cut was assembled, and the cut's options. */
export type CutBasis = { basis: string | null; options: CutOptions };

/** Times are in seconds, those in scores in microseconds. `pacing` is null for cuts of older versions. */
type CutExplanation = { findings: ExplainedFinding[]; pacing: PacingJson | null };
type PacingJson = BasisJson & { texts: EditedText[]; options: PacingOptions };

export type TranscriptOptions = { format: TranscriptFormat; hasTimes: boolean };
export type SubtitleOptions = { format: "srt" | "vtt"; timeline: "cut" | "source" };

async function requireProbed(paths: AnalysisPaths) {
  return requireFound(await readProbed(paths.probed), "Asset of the cut");
}

/** Returns the cut as an editing timeline. Errors: `AppError` `unsupported_format`, `not_found`. */
export async function formatTimeline({ paths, plan, name }: CompletedCut, options: ExportOptions): Promise<PlanFile> {
  const { info, frames } = await requireProbed(paths);
  const result = exportTimeline({ plan: JSON.parse(plan) as PlanJson, info, frames, name }, options);
  if (!result.ok) throw new AppError("unsupported_format", result.reason);
  const { filename, contentType, body } = result;
  return { filename, contentType, body };
}

async function readWords(paths: CompletedCut["paths"], plan: string, missing: "subtitles" | "text") {
  const completed = JSON.parse(plan) as PlanJson;
  const words = listPlanWords(completed, (await readSpeechAnalysis(paths))?.transcript?.words ?? null);
  if (words === null)
    throw new AppError("unsupported_format", `Cut was made without a transcript, so it has no ${missing}.`);
  return { completed, words };
}

/** Returns the cut's subtitles. Errors: `AppError` `unsupported_format` for a cut without words. */
export async function formatSubtitle({ paths, plan, name }: CompletedCut, options: SubtitleOptions): Promise<PlanFile> {
  const { completed, words } = await readWords(paths, plan, "subtitles");
  const cues = createCues(words, completed, options.timeline);
  const stem = name.replace(/\.[^.]*$/, "") || "cut";
  return {
    filename: `${stem}${options.timeline === "cut" ? ".cut" : ""}.${options.format}`,
    contentType: options.format === "srt" ? "application/x-subrip; charset=utf-8" : "text/vtt; charset=utf-8",
    body: options.format === "srt" ? formatSrt(cues) : formatVtt(cues),
  };
}

const TRANSCRIPT_TYPES: Record<TranscriptFormat, string> = {
  txt: "text/plain; charset=utf-8",
  md: "text/markdown; charset=utf-8",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
};

/** Returns the text of the cut as a document. Errors: `AppError` `unsupported_format` for a cut without words. */
export async function formatTranscript(
  { paths, plan, name }: CompletedCut,
  { format, hasTimes }: TranscriptOptions,
): Promise<PlanFile> {
  const { completed, words } = await readWords(paths, plan, "text");
  const title = toFileStem(name) ?? "cut";
  const bytes = await createTranscript(words, completed, { format, title, hasTimes });
  const isText = format !== "docx";
  return {
    filename: `${title}.cut.${format}`,
    contentType: TRANSCRIPT_TYPES[format],
    body: isText ? new TextDecoder().decode(bytes) : bytes.toBase64(),
    isBase64: !isText,
  };
}

/** A recording: `transcript` is the path of the words that pages show, `vocabulary` corrects them. */
export type WholeRecording = { paths: AnalysisPaths; transcript: string; vocabulary: readonly VocabularyEntry[] };

/** A plan with its basis as they are stored, and the review items of the plan from which it was edited. */
export type EditedPlanTexts = { plan: string; basis: string | null; items: string };

/** Returns the plan with the user's segments and texts. Errors: `AppError` `validation_error`, `not_found`. */
export async function createEditedPlan(
  { paths, plan }: CompletedCut,
  { basis }: Pick<CutBasis, "basis">,
  edit: PlanEdit,
): Promise<EditedPlanTexts> {
  const probed = await requireProbed(paths);
  const clock = { duration: probed.info.duration, frames: probed.frames };
  requireValidEdit(edit, clock);
  const transcript = (await readSpeechAnalysis(paths))?.transcript ?? null;
  const old = JSON.parse(plan) as PlanJson;
  const stored = unpackBasis(basis, old);
  const earlier = unpackTexts(basis, old);
  const texts = mergeTexts(earlier ?? [], edit.texts);
  const { pacing } = edit;
  const words = transcript?.words ?? null;
  const edited =
    stored && pacing
      ? setSegments(repace(old, null, { ...stored, ...clock }, pacing).plan, edit.segments, texts, words, clock)
      : setSegments(old, edit.segments, edit.texts, words, clock);
  if (earlier === null) edited.warnings.push("Earlier text corrections are damaged: a new cut will not have them.");
  return {
    plan: JSON.stringify(edited),
    items: formatItems(listPlanItems(judgePlan(old, stored?.spans ?? null))),
    basis: stored ? packBasis({ ...stored, texts, ...(pacing && { pacing }) }, edited) : packTexts(texts),
  };
}

/**
 * Returns the reasons for removed and marked spans, and the data for other pacing, as JSON text. Errors: `AppError`
 * `not_found`.
 */
export async function createExplanation({ paths, plan }: CompletedCut, { basis, options }: CutBasis): Promise<string> {
  const { info, frames } = await requireProbed(paths);
  const completed = JSON.parse(plan) as PlanJson;
  const stored = unpackBasis(basis, completed);
  const whole = stored && { ...stored, frames };
  const paced = stored?.pacing ?? toPacingOptions(options);
  const findings = whole ? assembleBasis(whole, info.duration, paced).findings : [];
  return JSON.stringify({
    findings: explainFindings(completed, findings).map(spanToSeconds),
    pacing: whole && { ...basisToJson(whole), texts: whole.texts, options: paced },
  } satisfies CutExplanation);
}

/**
 * Returns the plan of a cut by hand, which keeps the whole recording with all its words, as JSON text. Errors:
 * `AppError` `not_found`.
 */
export async function createWholePlan({ paths, transcript: shownPath, vocabulary }: WholeRecording): Promise<string> {
  const probed = await requireProbed(paths);
  const { duration } = probed.info;
  const transcript = (await readSpeechAnalysis(paths))?.transcript ?? null;
  const whole = { start: 0, end: duration, review: null };
  const corrected = transcript && { ...transcript, words: await readShownWords(shownPath, transcript.words) };
  const replacements = await findReplacements(corrected, { entries: vocabulary, kept: new Set(), speech: null });
  const text = joinTexts(replaceWords(corrected?.words ?? [], replacements).map((word) => word.text));
  return JSON.stringify(
    planToJson({
      sourceDuration: duration,
      keptDuration: duration,
      frameRate: findPlanFrameRate(probed),
      segments: toSegments([{ ...whole, text }], { duration, frames: probed.frames }),
      removed: [],
      takes: [],
      missing: [],
      warnings: [],
      language: transcript?.language ?? null,
      findings: [],
    }),
  );
}
