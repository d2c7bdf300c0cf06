/** Formats cues as SubRip and WebVTT. */
import type { Span, Ticks } from "../time";

type TimedLines = Span & { lines: readonly string[] };

/** Invisible. It breaks up character sequences that a player would interpret. */
const WORD_JOINER = "\u2060";

/**
 * Formats SubRip, which has no escapes that all players support. An invisible word joiner breaks up every sequence that
 * a player could interpret as a tag, an entity, an override or a time line.
 */
export function formatSrt(cues: readonly TimedLines[]): string {
  return cues.map((cue, i) => `${i + 1}\n${formatSpan(cue, ",")}\n${cue.lines.map(escapeSrt).join("\n")}\n`).join("\n");
}

export function formatVtt(cues: readonly TimedLines[]): string {
  const blocks = cues.map((cue) => `${formatSpan(cue, ".")}\n${cue.lines.map(escapeVtt).join("\n")}\n`);
  return ["WEBVTT\n", ...blocks].join("\n");
}

const escapeSrt = (line: string): string =>
  line
    .replace(/<(?=[a-z/!?])/gi, `<${WORD_JOINER}`)
    .replace(/&(?=#?\w+;)/g, `&${WORD_JOINER}`)
    .replace(/\{(?=\\)/g, `{${WORD_JOINER}`)
    .replace(/--(?=>)/g, `--${WORD_JOINER}`);

const escapeVtt = (line: string): string =>
  line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const formatSpan = ({ start, end }: Span, separator: "." | ","): string =>
  [start, end].map((time) => formatClock(toMilliseconds(time), separator)).join(" --> ");

export const toMilliseconds = (time: Ticks): number => Math.round(time / 1000);

/** Formats milliseconds as `HH:MM:SS.mmm`, with a comma in SubRip. */
export function formatClock(milliseconds: number, separator: "." | ","): string {
  const part = (value: number, digits = 2) => String(Math.floor(value)).padStart(digits, "0");
  const inMinute = milliseconds % 60_000;
  return `${part(milliseconds / 3_600_000)}:${part((milliseconds / 60_000) % 60)}:${part(inMinute / 1000)}${separator}${part(inMinute % 1000, 3)}`;
}
