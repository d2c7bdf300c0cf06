/** Arguments that every ffmpeg command line shares. Pure. */
import { TICKS_PER_SECOND, type Ticks } from "../domain/time";
import { DECODER_WHITELIST } from "./decoders";

/** Formats a time in seconds for an ffmpeg argument, exact to the microsecond. */
export function formatSeconds(ticks: Ticks): string {
  const whole = Math.round(Math.abs(ticks));
  const fraction = String(whole % TICKS_PER_SECOND).padStart(6, "0");
  return `${ticks < 0 && whole > 0 ? "-" : ""}${Math.floor(whole / TICKS_PER_SECOND)}.${fraction}`;
}

/** Global options of every call: no banner, no reads from standard input, only errors on standard error. */
export const QUIET_ARGUMENTS = ["-hide_banner", "-nostdin", "-v", "error"] as const;

export type InputOptions = {
  path: string;
  demuxer: string;
  /** Container time to seek to. Decoding starts at a keyframe before it. */
  seekTo?: Ticks | null;
  /** More options of this input. */
  extra?: readonly string[];
};

/**
 * Returns the input arguments of one uploaded file: the demuxer is forced, the only protocol is `file`, no format may
 * open another file, and only the decoders of supported codecs are allowed. The `file:` prefix makes a name that starts
 * with `-` or contains a colon harmless. Offcut keeps container times (`-copyts`) and moves them to the source's clock
 * in filters, because ffmpeg alters `-itsoffset` for transport streams.
 */
export function buildInputArguments(options: InputOptions): string[] {
  const { seekTo = null } = options;
  return [
    ...["-f", options.demuxer, "-protocol_whitelist", "file,pipe", "-format_whitelist", options.demuxer],
    ...["-codec_whitelist", DECODER_WHITELIST],
    ...(seekTo === null ? [] : ["-noaccurate_seek", "-seek_timestamp", "1", "-ss", formatSeconds(seekTo)]),
    ...(options.extra ?? []),
    ...["-i", `file:${options.path}`],
  ];
}

/** Returns the arguments of an output file, safe for any name. An existing file is overwritten. */
export const buildOutputArguments = (path: string): string[] => ["-y", `file:${path}`];

/** Returns `-vsync 0` under this version's name for it: every frame is written once, none is duplicated or dropped. */
export function buildPassthroughArguments(libavutil: number): string[] {
  return libavutil >= 58 ? ["-fps_mode", "passthrough"] : ["-vsync", "0"];
}
