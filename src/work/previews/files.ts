/** Reads the files of a preview, and creates the columns of a transcript. */
import { gzipSync } from "bun";
import type { MediaFolder } from "../../blobs/folders";
import { PREVIEW_VERSION, type PreviewFacts } from "../../domain/preview";
import { writeAtomic } from "../../lib/atomic-file";

/** Returns the facts of a complete preview; null if it does not exist or an older version created it. */
export async function readPreviewFacts(folder: MediaFolder): Promise<PreviewFacts | null> {
  const file = Bun.file(folder.previewFacts);
  if (!(await file.exists())) return null;
  const facts = (await file.json()) as PreviewFacts;
  return facts.version === PREVIEW_VERSION ? facts : null;
}

type StoredTranscript = { words: { text: string; start: number; end: number }[] };

const toMilliseconds = (seconds: number): number => Math.round(seconds * 1_000);

/**
 * Returns the compressed file with the columns of the transcript. Creates it if an older version prepared the asset.
 * Returns null without a transcript.
 */
export async function openTranscriptColumns(folder: MediaFolder): Promise<Bun.BunFile | null> {
  const columns = Bun.file(folder.transcriptColumns);
  if (await columns.exists()) return columns;
  const transcript = Bun.file(folder.transcript);
  if (!(await transcript.exists())) return null;
  await writeTranscriptColumns(folder, ((await transcript.json()) as StoredTranscript).words);
  return Bun.file(folder.transcriptColumns);
}

/** Writes the words as columns: texts, and their starts and ends in milliseconds. */
export async function writeTranscriptColumns(
  folder: Pick<MediaFolder, "transcriptColumns">,
  words: StoredTranscript["words"],
): Promise<void> {
  const columns = {
    text: words.map((word) => word.text),
    start: words.map((word) => toMilliseconds(word.start)),
    end: words.map((word) => toMilliseconds(word.end)),
  };
  await writeAtomic(folder.transcriptColumns, gzipSync(JSON.stringify(columns)));
}

/** Returns the columns as JSON for clients without compression. A stream: workers' files may expand without end. */
export const readTranscriptColumns = (file: Blob): ReadableStream<Uint8Array> =>
  file.stream().pipeThrough(new DecompressionStream("gzip"));
