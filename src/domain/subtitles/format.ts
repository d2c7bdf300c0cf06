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
  return cues
    .map(
      (cue, i) =>
        `${i + 1}\n${formatTimestamp(cue.start, ",")} --> ${formatTimestamp(cue.end, ",")}\n${cue.lines.map(escapeSrt).join("\n")}\n`,
    )
    .join("\n");
}

/** Formats WebVTT. */
export function formatVtt(cues: readonly TimedLines[]): string {
  const blocks = cues.map(
    (cue) =>
      `${formatTimestamp(cue.start, ".")} --> ${formatTimestamp(cue.end, ".")}\n${cue.lines.map(escapeVtt).join("\n")}\n`,
  );
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

/** Formats a time as `HH:MM:SS.mmm`, with a comma in SubRip. */
function formatTimestamp(time: Ticks, separator: string): string {
  const milliseconds = Math.round(time / 1000);
  const part = (value: number, digits: number) => String(Math.floor(value)).padStart(digits, "0");
  const seconds = milliseconds / 1000;
  return `${part(seconds / 3600, 2)}:${part((seconds / 60) % 60, 2)}:${part(seconds % 60, 2)}${separator}${part(milliseconds % 1000, 3)}`;
}
