/** Checks the files of a preparation that another machine has sent: later jobs and pages read them. Runs in a child process. */
import { gunzipSync } from "node:zlib";
import { HEADER_BYTES, hasHeader } from "../../lib/analysis-audio/layout";
import { openAudioFile } from "../../lib/analysis-audio/reader";
import { isMediaInfo } from "./probe-shapes";

/** The files to parse, if they exist. */
export type SentPreparedFiles = Partial<
  Record<"probed" | "speechAnalysis" | "energy" | "transcript" | "transcriptColumns", string>
>;

type Check = (value: unknown) => boolean;

/** The columns of a day-long recording have a fifth of this. */
const MAX_COLUMNS_BYTES = 64 * 1024 * 1024;
const MAX_WORD_CHARACTERS = 10_000;

/** Returns the problem of the first invalid file; null if all are valid. */
export async function findPreparedProblem(files: SentPreparedFiles): Promise<string | null> {
  for (const [name, path] of Object.entries(files) as [keyof SentPreparedFiles, string][]) {
    const isGood = await READERS[name](path).catch(() => false);
    if (!isGood) return `${NAMES[name]} cannot be read`;
  }
  return null;
}

const NAMES: Record<keyof SentPreparedFiles, string> = {
  probed: "the probe result",
  speechAnalysis: "the speech analysis",
  energy: "the energy contour",
  transcript: "the transcript",
  transcriptColumns: "the transcript in columns",
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const isText: Check = (value) => typeof value === "string" && value.length <= MAX_WORD_CHARACTERS;
const isListOf = (value: unknown, check: Check): value is unknown[] => Array.isArray(value) && value.every(check);
const isSpan: Check = (value) => isObject(value) && isNumber(value.start) && isNumber(value.end);
const isWord: Check = (value) => isObject(value) && isSpan(value) && isText(value.text) && isNumber(value.confidence);
const isLanguage: Check = (value) => value === null || isText(value);
const isRate: Check = (value) => isObject(value) && isNumber(value.num) && isNumber(value.den) && value.den > 0;

const isFrames: Check = (value) => {
  if (value === null) return true;
  if (!isObject(value) || !isRate(value.rate)) return false;
  if (value.kind === "constant") return isNumber(value.first) && isNumber(value.count);
  return value.kind === "listed" && isListOf(value.times, isNumber) && isNumber(value.end);
};

const isTranscript = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && isLanguage(value.language) && isListOf(value.words, isWord);

const isSpeech: Check = (value) => {
  if (!isObject(value) || !isNumber(value.duration) || !isListOf(value.speech, isSpan)) return false;
  const { transcript } = value;
  return transcript === null || (isTranscript(transcript) && isListOf(transcript.utterances, isSpan));
};

const isColumns: Check = (value) =>
  isObject(value) &&
  isListOf(value.text, isText) &&
  isListOf(value.start, isNumber) &&
  isListOf(value.end, isNumber) &&
  value.start.length === value.text.length &&
  value.end.length === value.text.length;

const READERS: Record<keyof SentPreparedFiles, (path: string) => Promise<boolean>> = {
  probed: async (path) => {
    const value: unknown = await Bun.file(path).json();
    return isObject(value) && isMediaInfo(value.info) && isFrames(value.frames);
  },
  speechAnalysis: async (path) => isSpeech(await Bun.file(path).json()),
  transcript: async (path) => isTranscript(await Bun.file(path).json()),
  energy: async (path) => {
    // Other files would be read as raw samples.
    if (!hasHeader(await Bun.file(path).slice(0, HEADER_BYTES).bytes())) return false;
    await (await openAudioFile(path)).close();
    return true;
  },
  transcriptColumns: async (path) => {
    const text = gunzipSync(await Bun.file(path).bytes(), { maxOutputLength: MAX_COLUMNS_BYTES }).toString();
    return isColumns(JSON.parse(text));
  },
};
