import { expect, test } from "bun:test";
import fc from "fast-check";
import { applyCorrections, correctWords } from "../../../web/editor/model/corrections";
import type { EditorPlan } from "../../../web/editor/model/plan";
import { setPause } from "../../../web/editor/model/reason-edits";
import { isWordKept, removeWords, toggleWords, type Words } from "../../../web/editor/model/words";
import {
  findParagraph,
  markWords,
  splitParagraphs,
  toPieces,
  toViews,
} from "../../../web/editor/transcript/paragraphs";
import {
  findFirstWord,
  findWordAtOffset,
  findWordsEnd,
  measureParagraph,
  toCharacters,
} from "../../../web/editor/transcript/places";
import { moveSelection } from "../../../web/editor/transcript/use-selection";
import { recordings, share } from "./arbitrary-edits";

const textOf = (pieces: { text: string }[]) => pieces.map(({ text }) => text).join("");

/** Creates words of 300 ms with pauses of 100 ms; `pauses` are longer ones before a word, in milliseconds. */
function makeWords(texts: string[], pauses: Record<number, number> = {}): Words {
  const words = { text: texts, start: [] as number[], end: [] as number[] };
  let at = 0;
  for (const index of texts.keys()) {
    at += pauses[index] ?? 100;
    words.start.push(at * 1000);
    at += 300;
    words.end.push(at * 1000);
  }
  return words;
}

const keepAll = (words: Words): EditorPlan => {
  const duration = (words.end.at(-1) ?? 0) + 1_000_000;
  return { duration, spans: [{ start: 0, end: duration, isKept: true, review: null }] };
};

test("a long pause ends a paragraph, and so does a sentence after 50 words", () => {
  const pause = makeWords(["a", "b", "c", "d"], { 2: 1600, 3: 1400 });
  expect(splitParagraphs(pause)).toEqual([
    { from: 0, to: 2 },
    { from: 2, to: 4 },
  ]);
  const sentence = makeWords(
    Array.from({ length: 100 }, (_, index) => (index === 59 || index === 30 ? "end." : "word")),
  );
  expect(splitParagraphs(sentence)).toEqual([
    { from: 0, to: 60 },
    { from: 60, to: 100 },
  ]);
  const endless = splitParagraphs(makeWords(Array.from({ length: 200 }, () => "word")));
  expect(endless.map(({ to, from }) => to - from)).toEqual([80, 80, 40]);
  expect(splitParagraphs(makeWords([]))).toEqual([]);
});

test("each word has the state that it has in the plan, and the text is the words with single spaces", () => {
  fc.assert(
    fc.property(recordings, ({ words, plan }) => {
      const paragraphs = splitParagraphs(words);
      const views = toViews(words, words.text, plan, paragraphs, null);
      for (const view of views) {
        expect(view.runs[0]!.from).toBe(view.from);
        expect(view.runs.at(-1)!.to).toBe(view.to);
        for (const [index, run] of view.runs.entries()) {
          if (index > 0) expect(run.from).toBe(view.runs[index - 1]!.to);
          for (let word = run.from; word < run.to; word++)
            expect(run.reason === null).toBe(isWordKept(plan, words, word));
        }
        expect(textOf(toPieces(view))).toBe(words.text.slice(view.from, view.to).join(" "));
        for (const { text, run } of toPieces(view)) if (run !== null) expect(text.trim()).toBe(text);
      }
    }),
  );
});

test("an edit changes only the paragraphs that show it", () => {
  const words = makeWords(Array.from({ length: 400 }, (_, index) => `word${index}`));
  const plan = keepAll(words);
  const paragraphs = splitParagraphs(words);
  const before = toViews(words, words.text, plan, paragraphs, null);
  const removed = removeWords(plan, words, { from: 100, to: 103 });
  const after = toViews(words, words.text, removed, paragraphs, { plan, texts: words.text, marks: [], views: before });
  expect(after.map((view, index) => view === before[index])).toEqual([true, false, true, true, true]);
  const corrected = applyCorrections(words, correctWords([], words, { from: 399, to: 400 }, "other"));
  const last = toViews(words, corrected, removed, paragraphs, {
    plan: removed,
    texts: words.text,
    marks: [],
    views: after,
  });
  expect(last.map((view, index) => view === after[index])).toEqual([true, true, true, true, false]);
});

test("after an edit the paragraphs show what they would without those before it", () => {
  fc.assert(
    fc.property(recordings, share, share, ({ words, plan }, a, b) => {
      // Short paragraphs, so that an edit leaves some of them alone.
      const paragraphs = words.text.flatMap((_, index) =>
        index % 3 === 0 ? [{ from: index, to: Math.min(words.text.length, index + 3) }] : [],
      );
      const before = toViews(words, words.text, plan, paragraphs, null);
      const from = Math.floor(a * words.text.length);
      const range = { from, to: Math.min(words.text.length, from + Math.ceil(b * 6)) };
      const { plan: edited } = toggleWords(plan, words, range);
      const after = toViews(words, words.text, edited, paragraphs, {
        plan,
        texts: words.text,
        marks: [],
        views: before,
      });
      const wanted = toViews(words, words.text, edited, paragraphs, null);
      expect(after.map(({ runs }) => runs)).toEqual(wanted.map(({ runs }) => runs));
    }),
  );
});

test("a place to review is marked at its kept words, and once where it starts", () => {
  const words = makeWords(Array.from({ length: 120 }, () => "word"));
  const plan = keepAll(words);
  const paragraphs = splitParagraphs(words);
  const marks = [
    { start: words.start[3]!, end: words.end[3]!, review: "unclear speech" },
    { start: words.start[78]!, end: words.end[81]!, review: "maybe a retake" },
  ];
  const list = (edited: EditorPlan) =>
    toViews(words, words.text, edited, paragraphs, null, markWords(words, marks))
      .flatMap(({ runs }) => runs)
      .filter(({ review }) => review !== null)
      .map(({ from, to, review, isReviewStart }) => [from, to, review, isReviewStart]);
  expect(list(plan)).toEqual([
    [3, 4, "unclear speech", true],
    [78, 80, "maybe a retake", true],
    [80, 82, "maybe a retake", false],
  ]);
  expect(list(removeWords(plan, words, { from: 3, to: 4 }))).toHaveLength(2);
  expect(list(removeWords(plan, words, { from: 78, to: 79 })).slice(1)).toEqual([
    [79, 80, "maybe a retake", true],
    [80, 82, "maybe a retake", false],
  ]);
  expect(list(removeWords(plan, words, { from: 78, to: 80 })).slice(1)).toEqual([[80, 82, "maybe a retake", true]]);
});

test("a place that starts in a paragraph after an edit of the previous one is marked there", () => {
  const words = makeWords(Array.from({ length: 120 }, () => "word"));
  const paragraphs = splitParagraphs(words);
  const marks = markWords(words, [{ start: words.start[78]!, end: words.end[81]!, review: null }]);
  // The next paragraph has spans of its own.
  const plan = removeWords(keepAll(words), words, { from: 80, to: 81 });
  const before = toViews(words, words.text, plan, paragraphs, null, marks);
  const edited = removeWords(plan, words, { from: 78, to: 80 });
  const previous = { plan, texts: words.text, marks, views: before };
  const after = toViews(words, words.text, edited, paragraphs, previous, marks);
  expect(after.map(({ runs }) => runs)).toEqual(
    toViews(words, words.text, edited, paragraphs, null, marks).map(({ runs }) => runs),
  );
  expect(after[1]!.runs.find(({ review }) => review !== null)).toMatchObject({ from: 81, isReviewStart: true });
});

test("a decision about a place changes only its paragraph", () => {
  const words = makeWords(Array.from({ length: 240 }, () => "word"));
  const plan = keepAll(words);
  const paragraphs = splitParagraphs(words);
  const marks = markWords(words, [{ start: words.start[100]!, end: words.end[101]!, review: null }]);
  const before = toViews(words, words.text, plan, paragraphs, null, marks);
  const after = toViews(words, words.text, plan, paragraphs, { plan, texts: words.text, marks, views: before }, []);
  expect(after.map((view, index) => view === before[index])).toEqual([true, false, true]);
});

test("characters and words map to each other, corrected ones included", () => {
  fc.assert(
    fc.property(
      recordings,
      share,
      share,
      fc.constantFrom("x", "several words here", ""),
      ({ words, plan }, a, b, text) => {
        const count = words.text.length;
        const from = Math.min(count - 1, Math.floor(a * count));
        const to = Math.min(count, from + 1 + Math.floor(b * 4));
        const texts = applyCorrections(words, correctWords([], words, { from, to }, text));
        for (const view of toViews(words, texts, plan, splitParagraphs(words), null)) {
          const shown = textOf(toPieces(view));
          const { start, end } = measureParagraph(view);
          for (let word = view.from; word < view.to; word++) {
            const index = word - view.from;
            if (texts[word] === "") continue;
            expect(shown.slice(start[index]!, end[index]!)).toBe(texts[word]!);
            expect(findWordAtOffset(view, start[index]!)).toBe(word);
            expect(findWordAtOffset(view, end[index]! - 1)).toBe(word);
            expect(findFirstWord(view, start[index]!)).toBe(word);
            const next = findWordsEnd(view, end[index]!);
            expect(next).toBeGreaterThan(word);
            expect(texts.slice(word + 1, next).every((one) => one === "")).toBe(true);
            expect(toCharacters(view, { from: word, to: word + 1 })).toEqual({
              start: start[index]!,
              end: end[index]!,
            });
          }
        }
      },
    ),
  );
});

test("the paragraph of a word is found", () => {
  const paragraphs = [
    { from: 0, to: 3 },
    { from: 3, to: 4 },
    { from: 4, to: 9 },
  ];
  expect([0, 2, 3, 4, 8].map((word) => findParagraph(paragraphs, word))).toEqual([0, 0, 1, 2, 2]);
});

test.each([
  ["the word of the last click", null, 1, false, [3, 4]],
  ["a word more", [3, 4], 1, true, [3, 5]],
  ["the end of a selection that the pointer made", [10, 15], 1, true, [10, 16]],
  ["its start", [10, 15], -1, true, [9, 15]],
  ["the word after it", [10, 15], 1, false, [15, 16]],
] as const)("the keyboard selects from %s", (_, chosen, direction, extends_, [from, to]) => {
  const own = { at: 3, anchor: null, selected: { from: 3, to: 4 } };
  const range = chosen && { from: chosen[0], to: chosen[1] };
  expect(moveSelection(own, range, Array(20).fill("word"), direction, extends_).selected).toEqual({ from, to });
});

test("a word without text is selected, removed and counted with the word whose text stands for it", () => {
  const texts = ["one", "two three", "", "", "four", ""];
  const words = makeWords(texts);
  const seen: (readonly [number, number])[] = [];
  let caret: Parameters<typeof moveSelection>[0] = { at: 0, anchor: null, selected: null };
  for (let n = 0; n < 4; n++) {
    const moved = moveSelection(caret, caret.selected, texts, 1, false);
    seen.push([moved.selected.from, moved.selected.to]);
    caret = moved;
  }
  expect(seen).toEqual([
    [0, 1],
    [1, 4],
    [4, 6],
    [4, 6],
  ]);
  expect(moveSelection(caret, caret.selected, texts, -1, true).selected).toEqual({ from: 1, to: 6 });
  expect(moveSelection({ at: 2, anchor: null, selected: null }, null, texts, 1, false).selected).toEqual({
    from: 1,
    to: 4,
  });
  const corrected = ["one", "zwei", "", "", "four", ""];
  expect(toggleWords(keepAll(words), words, { from: 0, to: 6 }, corrected).changed).toBe(3);
});

test("every word that the keyboard reaches has a text", () => {
  const texts = fc.array(fc.constantFrom("word", "two words", ""), { minLength: 1 }).filter((all) => all.some(Boolean));
  fc.assert(
    fc.property(texts, fc.nat(), fc.array(fc.tuple(fc.constantFrom(1, -1), fc.boolean())), (all, start, moves) => {
      let caret: Parameters<typeof moveSelection>[0] = { at: start % all.length, anchor: null, selected: null };
      for (const [direction, extends_] of moves) {
        const moved = moveSelection(caret, caret.selected, all, direction as 1 | -1, extends_);
        expect(all[moved.at]).not.toBe("");
        expect(all[moved.selected.from]).not.toBe("");
        expect(all[moved.selected.to] ?? "end").not.toBe("");
        caret = moved;
      }
    }),
  );
});

test("kept words that may have been misheard are marked until they are corrected or removed", () => {
  const words = { ...makeWords(["one", "to", "three", "fore"]), confidence: [99, 40, 49, 10] };
  const show = (texts: readonly string[], plan: EditorPlan) =>
    toViews(words, texts, plan, [{ from: 0, to: 4 }], null)
      .flatMap(toPieces)
      .filter(({ run }) => run?.isMisheard);
  const shown = (texts: readonly string[], plan: EditorPlan) => show(texts, plan).map(({ text }) => text);
  const plan = keepAll(words);
  expect(shown(words.text, plan)).toEqual(["to three fore"]);
  expect(shown(words.text.with(1, "two"), plan)).toEqual(["three fore"]);
  expect(shown(words.text, removeWords(plan, words, { from: 2, to: 3 }))).toEqual(["to", "fore"]);
});

test("pauses are shown between words, and do not change the text", () => {
  const words = makeWords(["one", "two", "three", "four"], { 2: 900 });
  const plan = keepAll(words);
  const show = (edited: EditorPlan, hasAllPauses = true) =>
    toViews(words, words.text, edited, [{ from: 0, to: 4 }], null, [], hasAllPauses).flatMap(toPieces);
  const list = (pieces: ReturnType<typeof show>) => pieces.flatMap(({ pause }) => pause ?? []);
  expect(textOf(show(plan))).toBe("one two three four");
  expect(list(show(plan))).toEqual([{ length: 900_000, isRemoved: false }]);
  expect(list(show(plan, false))).toEqual([]);
  const removed = show(removeWords(plan, words, { from: 2, to: 3 }));
  expect(textOf(removed)).toBe("one two three four");
  expect(list(removed)).toEqual([{ length: 900_000, isRemoved: true }]);
  const [start, end] = [words.end[1]! + 200_000, words.start[2]! - 100_000];
  const shortened = setPause(plan, { start, end }, 0);
  for (const isOfAll of [false, true])
    expect(list(show(shortened, isOfAll))).toEqual([{ length: 600_000, isRemoved: true }]);
  expect(textOf(show(shortened, false))).toBe("one two three four");
});

test("a removed pause before a paragraph is shown at its start, and only while it is removed", () => {
  const words = makeWords(["one", "two", "three", "four"], { 2: 1900 });
  const plan = keepAll(words);
  const paragraphs = splitParagraphs(words);
  const shorter = setPause(plan, { start: words.end[1]!, end: words.start[2]! }, 500_000);
  const views = toViews(words, words.text, shorter, paragraphs, null);
  expect(views.map((view) => toPieces(view).flatMap(({ pause, word }) => pause && [word, pause.length]))).toEqual([
    [undefined],
    [2, 1_400_000, undefined],
  ]);
  const restored = toViews(words, words.text, plan, paragraphs, { plan: shorter, texts: words.text, marks: [], views });
  expect(restored.flatMap(toPieces).filter(({ pause }) => pause)).toEqual([]);
  expect(restored[0]).toBe(views[0]!);
});
