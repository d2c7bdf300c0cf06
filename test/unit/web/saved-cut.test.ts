/** The steps of the editor, also after a save, and the word at the playhead. */
import { expect, test } from "bun:test";
import { applyCorrections, correctWords, rebaseCorrections } from "../../../web/editor/model/corrections";
import {
  type Content,
  continueHistory,
  findUndoLabel,
  type History,
  record,
  redo,
  startHistory,
  takeBack,
  undo,
} from "../../../web/editor/model/history";
import { type EditorPlan, removeRange } from "../../../web/editor/model/plan";
import { findPlayedWord, type Words } from "../../../web/editor/model/words";

const WHOLE: EditorPlan = { duration: 10e6, spans: [{ start: 0, end: 10e6, isKept: true, review: null }] };
const WORDS: Words = {
  text: ["So", "um", "we", "cut", "the", "talk."],
  start: [1, 2, 4, 5, 6, 7].map((s) => s * 1e6),
  end: [1.4, 2.4, 4.4, 5.4, 6.4, 7.4].map((s) => Math.round(s * 1e6)),
};

test.each<[string, [from: number, to: number, text: string][], [from: number, to: number, text: string][]]>([
  ["none", [], []],
  ["of one word", [[2, 3, "you"]], []],
  ["of one word, of which only one is saved", [[2, 3, "you"]], [[4, 5, "a"]]],
  ["of several words", [[2, 5, "you all cut"]], [[3, 4, "two"]]],
  ["of several words that are one", [[4, 6, "the talks"]], [[5, 6, "talks."]]],
])("a text that was saved is undone: %s", (_, before, saved) => {
  const correct = (all: typeof before) =>
    all.reduce<Content["corrections"]>(
      (corrections, [from, to, text]) => correctWords(corrections, WORDS, { from, to }, text),
      [],
    );
  const stored = { ...WORDS, text: applyCorrections(WORDS, correct(saved)) };
  const rebased = rebaseCorrections(correct(before), WORDS, stored);
  const read = (words: Words, corrections: Content["corrections"]) =>
    applyCorrections(words, corrections).filter(Boolean).join(" ");
  expect(read(stored, rebased)).toBe(read(WORDS, correct(before)));
  expect(rebaseCorrections(correct(saved), WORDS, stored)).toEqual([]);
});

test("undo and redo continue in the saved cut", () => {
  const toContent = (seconds: number): Content => ({
    plan: removeRange(WHOLE, { start: 0, end: seconds * 1e6 }),
    corrections: [],
  });
  let history = startHistory({ plan: WHOLE, corrections: [] });
  for (const seconds of [1, 2, 3]) history = record(history, toContent(seconds), `to ${seconds} s`);
  history = undo(history);
  const stored = toContent(2.04);
  const saved = continueHistory(history, history.present, stored, (corrections) => corrections);
  expect(saved.present).toBe(stored);
  expect(findUndoLabel(saved)).toBe("to 2 s");
  expect(undo(saved).present.plan).toEqual(toContent(1).plan);
  expect(redo(undo(saved)).present).toBe(stored);
  expect(redo(saved).present.plan).toEqual(toContent(3).plan);
});

test("only the last changes of a kind are taken back", () => {
  const cut = (history: History, second: number, label: string) =>
    record(
      history,
      { plan: removeRange(history.present.plan, { start: second * 1e6, end: (second + 1) * 1e6 }), corrections: [] },
      label,
    );
  const first = cut(startHistory({ plan: WHOLE, corrections: [] }), 0, "pacing");
  const tried = cut(cut(first, 2, "pacing"), 4, "pacing");
  const back = takeBack(tried, "pacing", first.past.length);
  expect([back.present, back.past, back.label]).toEqual([first.present, first.past, "pacing"]);
  const edited = cut(tried, 6, "word");
  expect(takeBack(edited, "pacing", first.past.length)).toBe(edited);
});

test.each([
  ["before the first word", 0, 0],
  ["within a word", 1.2e6, 0],
  ["in a pause", 1.8e6, 0],
  ["at the start of a kept span, before its first word", 3e6, 2],
  ["at the frame before the start of a kept span", 2.98e6, 2],
  ["in a removed span, before its first word", 1.95e6, 1],
  ["at the end", 10e6, 3],
])("the word that is shown as played %s", (_, time, word) => {
  const words = {
    text: ["a", "um", "b", "c"],
    start: [1e6, 2.1e6, 3.2e6, 4e6],
    end: [1.5e6, 2.5e6, 3.8e6, 5e6],
  };
  expect(findPlayedWord(removeRange(WHOLE, { start: 1.9e6, end: 3e6 }), words, time)).toBe(word);
});
