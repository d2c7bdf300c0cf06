/**
 * Parts of a preview as fragmented MP4, with source times: only frames before the first keyframe are encoded again.
 * `source-piece.ts` has those of a source.
 */
import { type FileHandle, open } from "node:fs/promises";
import { AppError } from "../../domain/errors";
import type { PreviewTrack } from "../../domain/preview";
import { readInto } from "../../lib/file-bytes";
import { type FragmentTrack, writeFragment, writeInitSegment } from "./fragment";
import { type EncodedHead, replaceParameterSets } from "./head";
import type { FileRange, PiecePart } from "./read-parts";
import { openSampleTable, type Sample, type SampleTable } from "./samples";

/**
 * `media` is the path of the preview or source. `from` and `to` are in seconds. `reserve` is called before its bytes
 * are read into memory, and may throw.
 */
export type PieceRequest<Track extends PreviewTrack = PreviewTrack> = {
  media: string;
  index: string;
  track: Track;
  from: number;
  to: number;
  reserve?: (bytes: number) => void;
};

/** A group of pictures of the preview. Its frames from number `first` on are needed as a separate group. */
export type HeadRequest = { id: number; sampleEntry: Uint8Array; samples: Uint8Array[]; first: number };

/** A frame within this time after the start counts as the frame at the start, because times were rounded. */
export const TOLERANCE_SECONDS = 0.001;
/** Duration of audio before and after the piece, so that the decoder's overlap is right at its first sample. */
const AUDIO_LEAD_SECONDS = 0.05;
const AUDIO_TAIL_SECONDS = 0.03;
/** Samples of a minute at 60 frames per second, with room. */
const MAX_SAMPLES = 8_192;
/** Size of the frames that are encoded again. Half a second of noise at 60 frames per second has a tenth of this. */
const MAX_GROUP_BYTES = 64 * 1024 ** 2;
/** A fragment stores its size in 32 bits. A minute of noise at 60 frames per second has a sixth of this. */
const MAX_FRAGMENT_BYTES = 2 ** 32 - 1024 ** 2;

const damaged = () => new AppError("processing_failed", "The preview is damaged.");

type OpenFile = { file: FileHandle; size: number; reserve: (bytes: number) => void };
export type OpenTrack = OpenFile & {
  samples: SampleTable;
  format: FragmentTrack;
  /** Opens other records of the index. */
  openSamples(records: Pick<PreviewTrack, "firstRecord" | "sampleCount">): SampleTable;
};

/** Calls `work` with the open files of a track, and closes them. */
export async function withTrack<Result>(
  kind: FragmentTrack["kind"],
  { media, index, track, reserve = () => {} }: PieceRequest,
  work: (open: OpenTrack) => Promise<Result>,
): Promise<Result> {
  await using files = new AsyncDisposableStack();
  const openFile = async (path: string) => {
    const file = await open(path, "r");
    files.defer(() => file.close());
    return file;
  };
  const file = await openFile(media);
  const indexFile = await openFile(index);
  const openSamples: OpenTrack["openSamples"] = (records) => openSampleTable(indexFile, records);
  const samples = openSamples(track);
  const sampleEntry = new Uint8Array(Buffer.from(track.sampleEntry, "base64"));
  const { size } = await file.stat();
  const format = { kind, timescale: track.timescale, sampleEntry };
  return await work({ file, size, reserve, samples, openSamples, format });
}

/** Locates the data of samples, which may be too large for the memory. */
export function locateData({ size: fileSize }: OpenFile, samples: readonly Sample[]): FileRange[] {
  const total = samples.reduce((sum, { size }) => sum + size, 0);
  if (total > MAX_FRAGMENT_BYTES || samples.some(({ offset, size }) => offset + size > fileSize)) throw damaged();
  return samples.map(({ offset, size }) => ({ offset, length: size }));
}

/** Reads the data of consecutive samples at once, including other tracks in between. */
async function readData({ file, reserve }: OpenFile, samples: readonly Sample[]): Promise<Uint8Array[]> {
  if (samples.length === 0) return [];
  const start = Math.min(...samples.map(({ offset }) => offset));
  const end = Math.max(...samples.map(({ offset, size }) => offset + size));
  if (!(end - start <= MAX_GROUP_BYTES)) throw damaged();
  reserve(end - start);
  const bytes = await readInto(file, new Uint8Array(end - start), start);
  if (bytes.length < end - start) throw damaged();
  return samples.map(({ offset, size }) => bytes.subarray(offset - start, offset - start + size));
}

/** Reads samples `from` to `to`, exclusive. */
export function readSamples(table: SampleTable, from: number, to: number): Promise<Sample[]> {
  if (to - from > MAX_SAMPLES) throw damaged();
  return table.read(from, to);
}

/** Returns the packets of the audio from shortly before the piece to shortly after it. */
export const createAudioPiece = (request: PieceRequest): Promise<PiecePart[]> =>
  withTrack("audio", request, async (track) => {
    const { samples, format } = track;
    const { timescale } = format;
    const first = await samples.findLast(Math.floor(Math.max(0, request.from - AUDIO_LEAD_SECONDS) * timescale));
    const last = await samples.findLast(Math.ceil((request.to + AUDIO_TAIL_SECONDS) * timescale) - 1);
    const found = await readSamples(samples, first, Math.min(samples.count, last + 2));
    // Times before the start of the recording cannot be represented. Those samples only prepare the decoder.
    const shown = found.slice(0, last - first + 1).filter(({ time }) => time >= 0);
    if (shown.length === 0) throw damaged();
    const data = locateData(track, shown);
    const end = found[last - first + 1]?.time;
    const fragment = shown.map((sample, n) => {
      const next =
        shown[n + 1]?.time ?? end ?? sample.time + (shown.length > 1 ? sample.time - shown[n - 1]!.time : 1_024);
      return { data: data[n]!, duration: Math.max(1, next - sample.time), isKey: true };
    });
    return [...writeInitSegment(format), ...writeFragment(shown[0]!.time, fragment)];
  });

type PieceSpan = { start: number; end: number; first: number; last: number };

/** Returns the span of a piece in units of the timescale, and its first and last frame. */
async function findSpan({ from, to }: PieceRequest, { samples, format: { timescale } }: OpenTrack): Promise<PieceSpan> {
  const start = Math.round(from * timescale);
  const end = Math.max(start + 1, Math.round(to * timescale));
  const tolerance = Math.round(TOLERANCE_SECONDS * timescale);
  const first = await samples.findLast(start + tolerance);
  return { start, end, first, last: Math.max(first, await samples.findLast(end - tolerance - 1)) };
}

/**
 * Returns the frame of the piece that is shown at `seek`, in seconds, and the frames after it, without encoding. The
 * last keyframe before it comes first. If that is before the piece, the frames from it to the start of the piece get
 * one unit of the timescale each, at the start of the piece: a player that seeks to a later position decodes them
 * without showing them.
 */
export const createSeekPiece = (request: PieceRequest & { seek: number }): Promise<PiecePart[]> =>
  withTrack("video", request, async (track) => {
    const { samples, format } = track;
    const { start, end, first, last } = await findSpan(request, track);
    const place = await samples.findLast(Math.round((request.seek + TOLERANCE_SECONDS) * format.timescale));
    const key = await samples.findKeyBefore(Math.min(last, Math.max(first, place)));
    const found = await readSamples(samples, key, last + 1);
    const times = found.map(({ time }, n) => (key + n > first ? time : start + n));
    const data = locateData(track, found);
    const fragment = found.map(({ isKey }, n) => ({
      data: data[n]!,
      duration: Math.max(1, (times[n + 1] ?? end) - times[n]!),
      isKey,
    }));
    return [...writeInitSegment(format), ...writeFragment(times[0]!, fragment)];
  });

/**
 * Returns the frames of the piece. The first one is shown from the piece's start, the last one until its end.
 * `encodeHead` encodes the frames before the first keyframe.
 */
export const createVideoPiece = (
  request: PieceRequest,
  encodeHead: (head: HeadRequest) => Promise<EncodedHead>,
): Promise<PiecePart[]> =>
  withTrack("video", request, async (track) => {
    const { samples, format } = track;
    const { start, end, first, last } = await findSpan(request, track);
    const key = await samples.findKeyBefore(first);
    const headEnd = key === first ? first : Math.min(await samples.findKeyAfter(first), key + MAX_SAMPLES);
    const group = key === first ? [] : await readSamples(samples, key, headEnd);
    const copied = await readSamples(samples, headEnd, Math.max(headEnd, last + 1));

    const times = [...group.slice(first - key), ...copied].map(({ time }) => time).slice(0, last - first + 1);
    times[0] = start;
    const durations = times.map((time, n) => Math.max(1, (times[n + 1] ?? end) - time));
    const tail = locateData(track, copied).map(
      (data, n): { data: FileRange | Uint8Array; duration: number; isKey: boolean } => {
        const at = times.length - copied.length + n;
        return { data, duration: durations[at]!, isKey: copied[n]!.isKey };
      },
    );
    if (group.length === 0) return [...writeInitSegment(format), ...writeFragment(start, tail)];

    const head = await encodeHead({
      id: first,
      sampleEntry: format.sampleEntry,
      samples: await readData(track, group),
      first: first - key,
    });
    const shown = head.samples
      .slice(0, times.length)
      .map((bytes, n) => ({ data: bytes, duration: durations[n]!, isKey: n === 0 }));
    if (head.parameterSets === null) return [...writeInitSegment(format), ...writeFragment(start, [...shown, ...tail])];
    // The preview was made by another version of the encoder. A piece may have two initialization segments.
    const sampleEntry = replaceParameterSets(format.sampleEntry, head.parameterSets);
    const encoded = [...writeInitSegment({ ...format, sampleEntry }), ...writeFragment(start, shown)];
    if (tail.length === 0) return encoded;
    return [...encoded, ...writeInitSegment(format), ...writeFragment(times[shown.length]!, tail)];
  });
