/** Checks a finished render that another machine has sent, using its tables. Does not decode it. */
import type { RenderRequest } from "../domain/media";
import { placeSegments } from "../domain/render-plan";
import { TICKS_PER_SECOND } from "../domain/time";
import { checkMp4 } from "./packets/mp4-check";
import { type Mp4Track, readMp4Structure } from "./packets/mp4-structure";
import { sniffMedia } from "./probing/sniff";

const SNIFF_BYTES = 65_536;
/** Another frame rate causes rounding at the end. */
const MAX_RATE_DEVIATION_FRAMES = 2;

/** `problem` describes the problem of the file, or is null. `frames` is the number of its video frames. */
export type RenderCheck = { problem: string | null; frames: number };

const bad = (problem: string): RenderCheck => ({ problem, frames: 0 });
const GOOD: RenderCheck = { problem: null, frames: 0 };

/** Checks the file at `path`. Errors: the signal's reason. */
export async function checkRenderedFile(
  request: Pick<RenderRequest, "probed" | "segments" | "output">,
  path: string,
  signal?: AbortSignal,
): Promise<RenderCheck> {
  try {
    const sniffed = await sniffMedia(new Uint8Array(await Bun.file(path).slice(0, SNIFF_BYTES).arrayBuffer()));
    if (sniffed === null) return bad("The file is not a media file.");
    if (request.output.format === "mp3") return sniffed.demuxer === "mp3" ? GOOD : bad("The file is not MP3.");
    if (sniffed.demuxer !== "mov") return bad(`The file is ${sniffed.demuxer}, expected ${request.output.format}.`);
    await checkMp4(path, signal);
    const structure = await readMp4Structure(path);
    if (structure === null || structure.missingBytes > 0) return bad("The file is incomplete.");
    return checkTracks(request, structure.tracks);
  } catch (error) {
    signal?.throwIfAborted();
    return bad(`The file cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function checkTracks(
  { probed, segments, output }: Pick<RenderRequest, "probed" | "segments" | "output">,
  tracks: readonly Mp4Track[],
): RenderCheck {
  const getCount = (kind: Mp4Track["kind"]) => tracks.filter((track) => track.kind === kind).length;
  for (const kind of ["video", "audio"] as const) {
    const expected = output[kind] === null ? 0 : 1;
    if (getCount(kind) !== expected) return bad(`The file has ${getCount(kind)} ${kind} tracks, expected ${expected}.`);
  }
  const video = tracks.find(({ kind }) => kind === "video");
  if (video === undefined || output.video === null) return GOOD;
  const { frameCount, duration } = placeSegments(probed, segments);
  const { sampleCount } = video;
  // Copied packets may include some that are decoded but not shown.
  if (output.matchesSource)
    return sampleCount >= frameCount
      ? { problem: null, frames: sampleCount }
      : bad(`The file has ${sampleCount} of ${frameCount} frames.`);
  const { frameRate } = output.video;
  const expected =
    frameRate === null ? frameCount : Math.round((duration / TICKS_PER_SECOND) * (frameRate.num / frameRate.den));
  const deviation = Math.abs(sampleCount - expected);
  return deviation <= (frameRate === null ? 0 : MAX_RATE_DEVIATION_FRAMES)
    ? { problem: null, frames: sampleCount }
    : bad(`The file has ${sampleCount} frames, expected ${expected}.`);
}
