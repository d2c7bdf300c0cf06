/** Recordings that are probably in another language than the one in which they were transcribed. */
import { formatMinutes } from "../../app/format";
import { findLanguageName, nameLanguage } from "../../app/rare-formats";

/** Below this share of understood speech, the recording is probably in another language. */
export const UNDERSTOOD = 0.5;

/** Returns "29 minutes are probably not in English." */
export function describeForeign(seconds: number, code: string): string {
  const verb = [1, 60].includes(Math.round(seconds)) ? "is" : "are";
  return `${formatMinutes(seconds)} ${verb} probably not in ${nameLanguage(code)}.`;
}

type Spoken = {
  audio_tracks: number | null;
  has_transcript: boolean;
  language: string | null;
  language_detected: { code: string; confidence?: number } | null;
};

/**
 * Returns the language of a recording that has no transcript because no model recognized it; null for other recordings.
 */
export const findUntranscribed = (asset: Spoken): string | null =>
  asset.has_transcript || asset.audio_tracks === 0 ? null : (asset.language ?? asset.language_detected?.code ?? null);

/** Returns whether a recording was not understood, or not transcribed because of its language. */
export const isForeign = (asset: Spoken): boolean =>
  findUntranscribed(asset) !== null || (asset.language_detected?.confidence ?? 1) < UNDERSTOOD;

/** Returns "This recording is probably in German." `code` is that of `findUntranscribed`. */
export const describeUntranscribed = ({ language }: Pick<Spoken, "language">, code: string): string =>
  `This recording is ${language === null ? "probably " : ""}in ${findLanguageName(code) ?? "another language"}.`;
