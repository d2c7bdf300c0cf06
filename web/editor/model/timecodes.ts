/** Times as the recording's timecode. Pure. */
import {
  formatTimecode,
  parseTimecode,
  type TimecodeFormat,
  toFrameNumber,
} from "../../../src/domain/timeline/timecode";

/** `rate` is in frames per second, null without video. `start` is the frame number at which the recording starts. */
export type Clock = { rate: { num: number; den: number } | null; format: TimecodeFormat; start: number };

/** Base of the timecode of a recording without video. */
const AUDIO_BASE = 25;

/** Returns the clock of a recording. `timecode` is the one at its start, or null. */
export function createClock(rate: Clock["rate"], timecode: string | null): Clock {
  const base = rate === null ? AUDIO_BASE : Math.max(1, Math.round(rate.num / rate.den));
  const parts = timecode === null ? null : parseTimecode(timecode);
  const format = { base, dropFrame: parts?.dropFrame === true && base % 30 === 0 };
  return { rate, format, start: parts === null ? 0 : toFrameNumber(parts, format) };
}

const getRate = ({ rate, format }: Clock): number => (rate === null ? format.base : rate.num / rate.den);

/** Tolerance for times that were rounded to microseconds, in frames. */
const ROUNDING = 0.01;

/** Returns `HH:MM:SS:FF` of a time in microseconds. `isFromStart` counts from the recording's start timecode. */
export function toTimecode(clock: Clock, time: number, isFromStart: boolean): string {
  const frame = Math.floor((time / 1e6) * getRate(clock) + ROUNDING);
  return formatTimecode(frame + (isFromStart ? clock.start : 0), clock.format);
}

/**
 * Reads a time that was typed: a timecode, `H:MM:SS`, `M:SS`, or seconds; with `+` or `-` it is relative to `now`.
 * Returns microseconds, or null if it is unreadable.
 */
export function readTime(clock: Clock, text: string, now: number, isFromStart: boolean): number | null {
  const match = /^([+-]?)(\d+(?:[:;.,]\d+)*)$/.exec(text.trim());
  if (match === null) return null;
  const parts = match[2]!.split(/[:;]/).map((part) => Number(part.replace(",", ".")));
  if (parts.length > 4 || parts.some((part) => !Number.isFinite(part))) return null;
  const isRelative = match[1] !== "";
  if (parts.length < 4) {
    const time = parts.reduce((sum, part) => sum * 60 + part, 0) * 1e6;
    return isRelative ? now + (match[1] === "-" ? -time : time) : time;
  }
  const [hours, minutes, seconds, frames] = parts as [number, number, number, number];
  const isImpossible = minutes >= 60 || seconds >= 60 || frames >= clock.format.base;
  if (isImpossible && !isRelative) return null;
  const frame = toFrameNumber({ hours, minutes, seconds, frames }, clock.format);
  const time = (Math.round(frame - (isFromStart && !isRelative ? clock.start : 0)) * 1e6) / getRate(clock);
  return isRelative ? now + (match[1] === "-" ? -time : time) : time;
}
