/** Reads a media file to its end with ffmpeg, which detects truncation and damage if no hash is known. */
import { type ExpectedMedia, findShortfall } from "../domain/scrub";
import { TICKS_PER_SECOND } from "../domain/time";
import type { Sandbox } from "../lib/sandbox";
import { buildInputArguments, buildPassthroughArguments, QUIET_ARGUMENTS } from "./arguments";
import { createWorkLimits, type Ffmpeg, PROGRESS_ARGUMENTS, startFfmpeg } from "./ffmpeg";

type DecodeCheck = {
  ffmpeg: Ffmpeg;
  sandbox: Sandbox;
  path: string;
  expected: ExpectedMedia;
  /** If reading takes longer, the part that was read counts. */
  maxSeconds: number;
  signal: AbortSignal;
};

/** `isConclusive` is false if ffmpeg was killed and the file must be read again. `problem` is a sentence, or null. */
type DecodeResult = { isConclusive: boolean; problem: string | null };

/** Decodes the first video and audio stream of a file with the lowest priority. Errors: the signal's reason. */
export async function checkDecoding(check: DecodeCheck): Promise<DecodeResult> {
  const { ffmpeg, sandbox, path, expected, maxSeconds, signal } = check;
  let decoded = { frames: 0, outTime: 0 };
  const child = startFfmpeg({
    ffmpeg,
    sandbox: { sandbox, view: { readOnly: [path], writable: [], devices: false } },
    priority: "lowest",
    arguments: [
      ...QUIET_ARGUMENTS,
      ...PROGRESS_ARGUMENTS,
      ...buildInputArguments({ path, demuxer: expected.demuxer, extra: ["-threads", "1"] }),
      ...["-map", "0:V:0?", "-map", "0:a:0?", ...buildPassthroughArguments(ffmpeg.libavutil), "-f", "null", "-"],
    ],
    limits: createWorkLimits(maxSeconds),
    onProgress: (done) => {
      decoded = done;
    },
    signal,
  });
  const [outcome, { code, signal: killedBy }] = await Promise.all([child.outcome, child.exited]);
  signal.throwIfAborted();
  if (outcome.timedOut) return { isConclusive: true, problem: null };
  if (killedBy !== null || code === 126 || code === 127) return { isConclusive: false, problem: null };
  const shortfall = findShortfall(expected, { seconds: decoded.outTime / TICKS_PER_SECOND, frames: decoded.frames });
  return { isConclusive: true, problem: shortfall ?? (outcome.ok ? null : "ffmpeg cannot read the file to its end.") };
}
