/** The files that an execution reads and sends, and their places on the head. */
import { lstat, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { getMediaFolder } from "../../blobs/folders";
import { listNames } from "../../blobs/trash";
import type { ExecutionFile } from "../../domain/worker-messages";
import { createFileKey } from "../../lib/hash";
import { CHUNK_SIZES_FILE } from "../../media/chunks/sizes-file";
import { hasSpeechAnalysis } from "../assets/prepared-files";
import { listBlobs } from "../jobs/blob-files";
import type { JobInput, LoadedJob } from "../jobs/definition";
import { isPieceName } from "../jobs/split-run";
import type { ReadableFile } from "./execution";
import type { OutputRule } from "./incoming-files";

/** The folders of a job on the head. */
export type JobFolders = Pick<LoadedJob<unknown>, "inputDir" | "outputDir">;

/**
 * Returns the file as a worker sees it. Its key changes with its content: files of jobs are replaced, never written
 * again. Throws when it is missing.
 */
export async function describeFile(root: string, path: string, role: ExecutionFile["role"]): Promise<ReadableFile> {
  const { size, mtimeMs, ino } = await stat(path);
  return {
    name: basename(path),
    role,
    bytes: size,
    key: createFileKey([relative(root, path), size, mtimeMs, ino]),
    modifiedAt: Math.floor(mtimeMs / 1000),
    path,
  };
}

export const listInputs = (root: string, { blobs }: JobInput, { inputDir }: JobFolders): Promise<ReadableFile[]> =>
  Promise.all(
    Object.values(blobs).flatMap((blob) =>
      blob === null ? [] : [describeFile(root, join(inputDir, blob.name), "input")],
    ),
  );

/**
 * Lists the files that earlier attempts of a render have encoded, from which another attempt continues. A child process
 * could have left links there.
 */
export async function listEncoded(root: string, workDir: string): Promise<ReadableFile[]> {
  const names = (await listNames(workDir)).filter((name) => name === CHUNK_SIZES_FILE || isPieceName(name));
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(workDir, name);
      return (await lstat(path)).isFile() ? await describeFile(root, path, "work") : null;
    }),
  );
  return found.filter((file) => file !== null);
}

/** No file of a preparation but the audio grows with the recording by more than this. */
const MAX_DERIVED_BYTES = 256 * 1024 * 1024;
const AUDIO_BYTES_PER_SECOND = 34_000;
/** The server parses transcripts of other machines. At 5 words a second they have 400 bytes. */
const TRANSCRIPT_BYTES_PER_SECOND = 600;
const MIN_TRANSCRIPT_BYTES = 1024 * 1024;

/** Sheets of the storyboard: as many as the recording needs, JPEGs of tiles. */
const SHEET_NAME = /^storyboard-\d{4}\.jpg$/;
const MAX_SHEET_BYTES = 16 * 1024 * 1024;

/**
 * Returns the files that a preparation makes, which a later attempt reads. The speech analysis says that the files of
 * speech are complete.
 */
function getPreparedNames(outputDir: string): string[] {
  const files = getMediaFolder(outputDir);
  return [
    files.probed,
    files.analysisAudio,
    files.energy,
    files.transcript,
    files.transcriptColumns,
    files.speechAnalysis,
    files.waveform,
    files.peaks,
    files.loudness,
    files.poster,
    files.filmstrip,
    files.sourceIndex,
    files.sourceFacts,
  ].map((path) => basename(path));
}

/**
 * Lists the files of an earlier attempt of a preparation. Includes files of speech only if all exist: otherwise, the
 * next worker would mix them with its own.
 */
export async function listPrepared(root: string, sourceName: string, { outputDir }: JobFolders) {
  const names = new Set(getPreparedNames(outputDir));
  const files = getMediaFolder(outputDir);
  if (!(await hasSpeechAnalysis(files)))
    for (const path of [files.energy, files.transcript, files.transcriptColumns, files.speechAnalysis])
      names.delete(basename(path));
  const found = await listBlobs(outputDir, sourceName);
  return Promise.all(
    found
      .filter(({ name }) => names.has(name) || SHEET_NAME.test(name))
      .map(({ name }) => describeFile(root, join(outputDir, name), "output")),
  );
}

/** Returns the files that a worker may send for a preparation. */
export const getPrepareRules = (
  { outputDir }: JobFolders,
  { maxDurationSeconds }: { maxDurationSeconds: number },
): OutputRule[] => {
  const { transcript, transcriptColumns, sourceFacts } = getMediaFolder(outputDir);
  const parsed = [transcript, transcriptColumns, sourceFacts].map((path) => basename(path));
  const maxBytes = Math.max(MAX_DERIVED_BYTES, AUDIO_BYTES_PER_SECOND * maxDurationSeconds);
  const maxTranscriptBytes = Math.max(MIN_TRANSCRIPT_BYTES, TRANSCRIPT_BYTES_PER_SECOND * maxDurationSeconds);
  const rules = getPreparedNames(outputDir).map((name) => ({
    name,
    dir: outputDir,
    maxBytes: parsed.includes(name) ? maxTranscriptBytes : maxBytes,
  }));
  // The facts of the source, which name the sheets, are moved last.
  return [{ name: SHEET_NAME, dir: outputDir, maxBytes: MAX_SHEET_BYTES }, ...rules];
};
