/** Reads the files of a preview, and creates the columns of a transcript. */
import { gzipSync } from "bun";
import type { MediaFolder } from "../../blobs/folders";
import {
  MAX_STORYBOARD_SHEETS,
  PREVIEW_VERSION,
  type PreviewFacts,
  type PreviewTrack,
  SOURCE_INDEX_VERSION,
  type SourceFacts,
} from "../../domain/preview";
import { writeAtomic } from "../../lib/atomic-file";
import { isSystemError } from "../../lib/error-codes";

/** Returns the facts of a complete preview; null if it does not exist, is damaged, or an older version created it. */
export async function readPreviewFacts(folder: MediaFolder): Promise<PreviewFacts | null> {
  const file = Bun.file(folder.previewFacts);
  if (!(await file.exists())) return null;
  const facts = (await file.json().catch((error) => {
    if (isSystemError(error)) throw error;
    return null;
  })) as PreviewFacts | null;
  return facts?.version === PREVIEW_VERSION ? facts : null;
}

const MAX_SAMPLE_ENTRY_CHARACTERS = 16_384;

/**
 * Returns whether a track of an index is one that this server can serve. The index comes from a child process, or from
 * another machine.
 */
export function isValidTrack(track: PreviewTrack): boolean {
  const { mimeType, timescale, sampleEntry, firstRecord, sampleCount } = track;
  const areCounts = [timescale, firstRecord, sampleCount].every((value) => Number.isSafeInteger(value) && value >= 0);
  return (
    areCounts &&
    timescale > 0 &&
    /^(video|audio)\/mp4; codecs="[\w.-]{1,60}"$/.test(mimeType) &&
    sampleEntry.length <= MAX_SAMPLE_ENTRY_CHARACTERS
  );
}

/**
 * Returns the tracks of a source that browsers may play. Returns null without an index, and only the storyboard for an
 * index of an older version, so that the recording plays from its preview.
 */
export async function readSourceFacts(folder: MediaFolder): Promise<SourceFacts | null> {
  const file = Bun.file(folder.sourceFacts);
  if (!(await file.exists())) return null;
  try {
    const facts = (await file.json()) as SourceFacts;
    if (!isValidSource(facts)) return null;
    return facts.version === SOURCE_INDEX_VERSION
      ? facts
      : { ...facts, version: SOURCE_INDEX_VERSION, video: null, audio: null };
  } catch {
    // A child process or a worker has written another shape.
    return null;
  }
}

export const isValidSource = ({ video, audio, storyboard }: SourceFacts): boolean =>
  (storyboard === null ||
    (Object.values(storyboard).every((value) => Number.isFinite(value) && value > 0) &&
      storyboard.sheets <= MAX_STORYBOARD_SHEETS)) &&
  (video === null ||
    (isValidTrack(video) &&
      [video.keys.firstRecord, video.keys.sampleCount].every((value) => Number.isSafeInteger(value) && value >= 0) &&
      video.keys.sampleCount > 0 &&
      video.starts.every((time, n) => Number.isFinite(time) && time > (video.starts[n - 1] ?? 0)) &&
      [0, 90, 180, 270].includes(video.rotation))) &&
  (audio === null || isValidTrack(audio));

type StoredTranscript = { words: { text: string; start: number; end: number; confidence: number }[] };

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

/** Writes the words as columns: texts, starts and ends in milliseconds, and confidences in percent. */
export async function writeTranscriptColumns(
  folder: Pick<MediaFolder, "transcriptColumns">,
  words: StoredTranscript["words"],
): Promise<void> {
  const columns = {
    text: words.map((word) => word.text),
    start: words.map((word) => toMilliseconds(word.start)),
    end: words.map((word) => toMilliseconds(word.end)),
    confidence: words.map((word) => Math.round(word.confidence * 100)),
  };
  await writeAtomic(folder.transcriptColumns, gzipSync(JSON.stringify(columns)));
}

/** Returns the columns as JSON for clients without compression. A stream: workers' files may expand without end. */
export const readTranscriptColumns = (file: Blob): ReadableStream<Uint8Array> =>
  file.stream().pipeThrough(new DecompressionStream("gzip"));
