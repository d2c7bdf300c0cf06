/** Recordings that are probably in another language than the one in which they were transcribed. */
import { formatCount } from "../../app/format";
import { nameLanguage } from "../../app/rare-formats";

/** Below this share of understood speech, the recording is probably in another language. */
export const UNDERSTOOD = 0.5;

/** Returns "29 minutes are probably not in English." */
export function describeForeign(seconds: number, code: string): string {
  const name = nameLanguage(code);
  const [count, unit] = seconds < 90 ? [Math.round(seconds), "second"] : [Math.round(seconds / 60), "minute"];
  return `${formatCount(count, unit)} ${count === 1 ? "is" : "are"} probably not in ${name}.`;
}
