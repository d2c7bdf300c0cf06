/** Lines of kept words to show while they are said. Pure. */
import { findFirst } from "../../../src/domain/time";
import type { EditorPlan } from "./plan";
import { isWordKept, type Words } from "./words";

/** `from` and `to` are words; removed words between them are not in the text. */
export type Caption = { from: number; to: number; text: string };

const MAX_CHARACTERS = 72;
/** From this length on, a line ends with a sentence. */
const USUAL_CHARACTERS = 24;
/** A longer pause of the recording ends a line. */
const PAUSE = 900_000;
const SENTENCE_END = /[.!?…。！？]["'”’)]?$/;

export function listCaptions(plan: EditorPlan, words: Words, texts: readonly string[]): Caption[] {
  const captions: Caption[] = [];
  let last: Caption | null = null;
  let end = 0;
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index]!;
    if (text === "" || !isWordKept(plan, words, index)) continue;
    const isFull: boolean = last === null || last.text.length + 1 + text.length > MAX_CHARACTERS;
    const isEnded = last !== null && last.text.length >= USUAL_CHARACTERS && SENTENCE_END.test(last.text);
    if (last === null || isFull || isEnded || words.start[index]! - end > PAUSE) {
      last = { from: index, to: index + 1, text };
      captions.push(last);
    } else {
      last.text += ` ${text}`;
      last.to = index + 1;
    }
    end = words.end[index]!;
  }
  return captions;
}

/** Returns the line of a word, or null. */
export function findCaption(captions: readonly Caption[], word: number): Caption | null {
  const found = captions[findFirst(captions.length, (index) => captions[index]!.from > word) - 1];
  return found !== undefined && word < found.to ? found : null;
}
