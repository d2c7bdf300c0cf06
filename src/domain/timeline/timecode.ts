/** SMPTE timecode: frame numbers as `HH:MM:SS:FF`. */

/** `base` frames per second. `dropFrame` skips numbers (not frames) to match the clock; only for base 30 and 60. */
export type TimecodeFormat = { base: number; dropFrame: boolean };

/** Returns how many numbers are skipped at the start of each minute, except every tenth. */
const getDroppedPerMinute = ({ base, dropFrame }: TimecodeFormat): number => (dropFrame ? base / 15 : 0);

/** Formats a frame counted from 00:00:00:00. Wraps after 24 hours. `;` before the frames means drop-frame. */
export function formatTimecode(frame: number, count: TimecodeFormat): string {
  const { base } = count;
  const dropped = getDroppedPerMinute(count);
  const framesPerMinute = base * 60 - dropped;
  const framesPerTenMinutes = base * 600 - dropped * 9;
  const framesPerDay = framesPerTenMinutes * 144;
  const inDay = ((frame % framesPerDay) + framesPerDay) % framesPerDay;
  const tens = Math.floor(inDay / framesPerTenMinutes);
  const rest = inDay % framesPerTenMinutes;
  const minutes = rest < dropped ? 0 : Math.floor((rest - dropped) / framesPerMinute);
  const number = inDay + dropped * (tens * 9 + minutes);
  const pad = (value: number) => String(value).padStart(2, "0");
  const seconds = Math.floor(number / base);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map(pad).join(":");
  return `${clock}${count.dropFrame ? ";" : ":"}${pad(number % base)}`;
}

export type TimecodeParts = { hours: number; minutes: number; seconds: number; frames: number; dropFrame: boolean };

/** Parses a timecode; null if it is invalid. */
export function parseTimecode(label: string): TimecodeParts | null {
  const match = /^(\d\d):([0-5]\d):([0-5]\d)([:;.,])(\d{2,3})$/.exec(label.trim());
  if (!match) return null;
  const [hours, minutes, seconds] = match.slice(1, 4).map(Number) as [number, number, number];
  return hours < 24 ? { hours, minutes, seconds, frames: Number(match[5]), dropFrame: match[4] !== ":" } : null;
}

/** Returns the frame of a timecode, counted from 00:00:00:00. A skipped number is the next valid one. */
export function toFrameNumber(parts: Omit<TimecodeParts, "dropFrame">, count: TimecodeFormat): number {
  const { base } = count;
  const dropped = getDroppedPerMinute(count);
  const minutes = parts.hours * 60 + parts.minutes;
  const skipped = parts.minutes % 10 !== 0 && parts.seconds === 0 && parts.frames < dropped;
  const frames = skipped ? dropped : parts.frames;
  return (minutes * 60 + parts.seconds) * base + frames - dropped * (minutes - Math.floor(minutes / 10));
}

/** Returns the frame of 01:00:00:00, at which timelines start. */
export const getHourFrame = (count: TimecodeFormat): number =>
  toFrameNumber({ hours: 1, minutes: 0, seconds: 0, frames: 0 }, count);
