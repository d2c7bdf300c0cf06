import type { PlanJson } from "../../domain/plan-json";
import type { Word } from "../../domain/speech";
import {
  formatDocx,
  formatMarkdown,
  formatPlainText,
  listTranscript,
  type TranscriptFormat,
  type TranscriptLayout,
} from "../../domain/transcript-text";
import { packTexts } from "../../lib/zip-bytes";

/** The archive of a document has this time, so that equal cuts have equal files. */
const MODIFIED_AT = Date.UTC(2000, 0, 1);

/** Returns the words that a plan keeps as a document. */
export async function createTranscript(
  words: readonly Word[],
  plan: PlanJson,
  { format, ...layout }: TranscriptLayout & { format: TranscriptFormat },
): Promise<Uint8Array<ArrayBuffer>> {
  const paragraphs = listTranscript(words, plan);
  if (format === "docx") return packTexts(formatDocx(paragraphs, layout), MODIFIED_AT);
  return new TextEncoder().encode((format === "md" ? formatMarkdown : formatPlainText)(paragraphs, layout));
}
