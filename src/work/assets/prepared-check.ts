/**
 * Checks the files of a preparation that another machine has sent: later jobs and pages read them. Runs in a child
 * process.
 */
import { gunzipSync } from "node:zlib";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { mediaInfo, text } from "../../domain/probe-schema";
import { HEADER_BYTES, hasHeader } from "../../lib/analysis-audio/layout";
import { openAudioFile } from "../../lib/analysis-audio/reader";
import { isSystemError } from "../../lib/error-codes";

/** The files to parse, if they exist. */
export type SentPreparedFiles = Partial<
  Record<"probed" | "speechAnalysis" | "energy" | "transcript" | "transcriptColumns", string>
>;

/** The columns of a day-long recording have a fifth of this. */
const MAX_COLUMNS_BYTES = 64 * 1024 * 1024;
export const MAX_WORD_CHARACTERS = 10_000;

/** Returns the problem of the first invalid file; null if all are valid. Errors: those of the file system. */
export async function findPreparedProblem(files: SentPreparedFiles): Promise<string | null> {
  for (const [name, path] of Object.entries(files) as [keyof SentPreparedFiles, string][]) {
    const isGood = await READERS[name](path).catch((error) => {
      if (isSystemError(error)) throw error;
      return false;
    });
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

const number = Type.Number();
const word = text(MAX_WORD_CHARACTERS);
const span = { start: number, end: number };
const rate = Type.Object({ num: number, den: Type.Number({ exclusiveMinimum: 0 }) });
const PROBED = Type.Object({
  info: mediaInfo,
  frames: Type.Union([
    Type.Object({ kind: Type.Literal("constant"), rate, first: number, count: number }),
    Type.Object({ kind: Type.Literal("listed"), rate, times: Type.Array(number), end: number }),
    Type.Null(),
  ]),
});
const transcript = {
  language: Type.Union([word, Type.Null()]),
  words: Type.Array(Type.Object({ ...span, text: word, confidence: number })),
};
const SPEECH = Type.Object({
  duration: number,
  speech: Type.Array(Type.Object(span)),
  transcript: Type.Union([Type.Object({ ...transcript, utterances: Type.Array(Type.Object(span)) }), Type.Null()]),
});
const COLUMNS = Type.Object({ text: Type.Array(word), start: Type.Array(number), end: Type.Array(number) });

/** Compiles the schema, because the files have up to millions of values. */
const matches = <S extends TSchema>(schema: S, value: unknown): value is Static<S> =>
  TypeCompiler.Compile(schema).Check(value);

const READERS: Record<keyof SentPreparedFiles, (path: string) => Promise<boolean>> = {
  probed: async (path) => matches(PROBED, await Bun.file(path).json()),
  speechAnalysis: async (path) => matches(SPEECH, await Bun.file(path).json()),
  transcript: async (path) => matches(Type.Object(transcript), await Bun.file(path).json()),
  energy: async (path) => {
    // Other files would be read as raw samples.
    if (!hasHeader(await Bun.file(path).slice(0, HEADER_BYTES).bytes())) return false;
    await (await openAudioFile(path)).close();
    return true;
  },
  transcriptColumns: async (path) => {
    const json = gunzipSync(await Bun.file(path).bytes(), { maxOutputLength: MAX_COLUMNS_BYTES }).toString();
    const columns: unknown = JSON.parse(json);
    if (!matches(COLUMNS, columns)) return false;
    return columns.start.length === columns.text.length && columns.end.length === columns.text.length;
  },
};
