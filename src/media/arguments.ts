/** The parts of ffmpeg's command lines that every call shares. Pure: arrays of arguments from plain data. */
import { TICKS_PER_SECOND, type Ticks } from "../domain/time";
import { DECODER_WHITELIST } from "./decoders";

/** Seconds as ffmpeg takes them, exact to the microsecond. */
export function formatSeconds(ticks: Ticks): string {
  const whole = Math.round(Math.abs(ticks));
  const fraction = String(whole % TICKS_PER_SECOND).padStart(6, "0");
  return `${ticks < 0 && whole > 0 ? "-" : ""}${Math.floor(whole / TICKS_PER_SECOND)}.${fraction}`;
}

/** What every call begins with: no keyboard, no banner, only errors on standard error. */
export const QUIET_ARGUMENTS = ["-hide_banner", "-nostdin", "-v", "error"] as const;

export type InputOptions = {
  path: string;
  demuxer: string;
  /** Container time to seek to; decoding starts at a keyframe before it. */
  seekTo?: Ticks | null;
  /** Further options of this input. */
  extra?: readonly string[];
};

/**
 * Returns the arguments of one uploaded file: the demuxer forced, no protocol but files, no format that could open another file, and no
 * decoder but those of recordings. The `file:` keeps a name that begins with `-` or holds a colon from meaning anything. Offcut always keeps
 * container times (`-copyts`) and moves them to the source's clock in the filters: `-itsoffset` is altered by ffmpeg for transport streams.
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

/** An output file, safe for any name, overwritten when it exists. */
export const buildOutputArguments = (path: string): string[] => ["-y", `file:${path}`];

/** `-vsync 0` and its new name: hand each frame on as it is, never double or drop one. */
export function buildPassthroughArguments(libavutil: number): string[] {
  return libavutil >= 58 ? ["-fps_mode", "passthrough"] : ["-vsync", "0"];
}
