/** Measures loudness and true peak (EBU R128, ITU-R BS.1770-4). */
import { AppError } from "../../domain/errors";
import type { AudioFormat } from "../encoder-arguments";
import { createWorkLimits, type Ffmpeg, type FfmpegChild, startFfmpeg, toFfmpegError } from "../ffmpeg";
import { type AudioSink, buildSampleInputArguments } from "./sink";

/** `integrated` in LUFS; null if nothing is louder than the absolute gate of -70 LUFS. `peak` in dBTP; null for digital silence. */
export type Loudness = { integrated: number | null; peak: number | null };

type MeterOptions = { ffmpeg: Ffmpeg; wallSeconds: number; signal?: AbortSignal | undefined };

/** The filter reports at this level. Its line for every tenth of a second is at a lower one. */
const METER_ARGUMENTS = ["-hide_banner", "-nostdin", "-nostats", "-v", "info"] as const;
const METER_OUTPUT = ["-map", "0:a:0", "-af", "ebur128=peak=true:framelog=verbose", "-f", "null", "-"] as const;

/** Below it, nothing counts (BS.1770-4). */
const ABSOLUTE_GATE_LUFS = -70;

/** Returns a sink that measures its samples. `read` resolves after `end`. */
export function createMeter(
  { ffmpeg, wallSeconds, signal }: MeterOptions,
  audioFormat: AudioFormat,
): AudioSink & { read(): Loudness } {
  const meter = startMeter({ ffmpeg, wallSeconds, signal }, buildSampleInputArguments(audioFormat), "pipe");
  let loudness: Loudness | null = null;
  return {
    write: (samples) => meter.child.stdin.write(samples),
    end: async () => {
      await meter.child.stdin.end();
      loudness = await meter.read();
    },
    abort: async (error) => {
      await meter.child.kill();
      return error;
    },
    read: () => loudness!,
  };
}

/** Measures the audio of a file that this server has written. Errors: `AppError` `processing_failed`; the signal's reason. */
export const measureFile = (options: MeterOptions, path: string): Promise<Loudness> =>
  startMeter(options, ["-protocol_whitelist", "file", "-i", `file:${path}`]).read();

function startMeter({ ffmpeg, wallSeconds, signal }: MeterOptions, input: readonly string[], stdin?: "pipe") {
  const lines: string[] = [];
  const child: FfmpegChild = startFfmpeg({
    ffmpeg,
    arguments: [...METER_ARGUMENTS, ...input, ...METER_OUTPUT],
    limits: createWorkLimits(wallSeconds),
    stdin,
    signal,
    onLine: (line) => {
      lines.push(line);
      if (lines.length > MAX_LINES) lines.shift();
    },
  });
  const read = async (): Promise<Loudness> => {
    const outcome = await child.outcome;
    signal?.throwIfAborted();
    if (!outcome.ok) throw toFfmpegError(outcome);
    return parseLoudness(lines.join("\n"));
  };
  return { child, read };
}

/** The summary has 20. */
const MAX_LINES = 60;

/** Parses the summary of the filter. Errors: `AppError` `processing_failed` without one. */
export function parseLoudness(text: string): Loudness {
  const summary = text.slice(Math.max(0, text.lastIndexOf("Summary:")));
  const integrated = /\bI:\s+(-?[\d.]+|-?inf|nan) LUFS/.exec(summary)?.[1];
  const peak = /\bPeak:\s+(-?[\d.]+|-?inf|nan) dBFS/.exec(summary)?.[1];
  if (integrated === undefined || peak === undefined)
    throw new AppError("processing_failed", "Loudness could not be measured.", { cause: new Error(text.slice(-500)) });
  const [lufs, dbtp] = [Number(integrated), Number(peak)];
  return {
    integrated: Number.isFinite(lufs) && lufs > ABSOLUTE_GATE_LUFS ? lufs : null,
    peak: Number.isFinite(dbtp) ? dbtp : null,
  };
}
