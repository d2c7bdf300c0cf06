import { describe, expect, test } from "bun:test";
import type { ForcedAlignment } from "../../../../src/domain/speech";
import { replaceWords } from "../../../../src/domain/vocabulary/apply";
import { listCandidates } from "../../../../src/domain/vocabulary/candidates";
import { toFormKey } from "../../../../src/domain/vocabulary/entries";
import { listComparisons, selectByAudio } from "../../../../src/domain/vocabulary/select";
import { prepareTerms } from "../../../../src/domain/vocabulary/terms";
import { isCommon, type Options, TICKS, toEntries, toWords } from "./recognized-words";

describe("with audio", () => {
  const words = toWords("we met ~her ~cold ~and ~ski here");
  const transcript = { words, utterances: [{ start: 0, end: words.at(-1)!.end, text: "", meanLogProb: -0.2 }] };
  const listAll = (vocabulary: Options["vocabulary"]) =>
    [...listCandidates(words, prepareTerms(toEntries(vocabulary)), { isCommon, kept: new Set() })].flat();
  const candidates = listAll({ Verkhovensky: [] });
  const comparison = listComparisons(candidates, transcript);
  const align = (fit: number, prior: number, end: number, requests = comparison.requests): ForcedAlignment[] =>
    requests.map(({ text, mute }) => ({
      words: text
        .split(" ")
        .map((word) => ({ text: word, start: 0, end, confidence: Math.exp(mute ? prior : fit), logProb: 0 })),
      meanLogProb: 0,
      tailLogProb: 0,
    }));
  const select = (fit: number, prior: number, end = 6 * TICKS) =>
    replaceWords(words, selectByAudio(candidates, comparison, { alignments: align(fit, prior, end), termCount: 1 }))
      .map((word) => word.text)
      .join(" ");

  test("a term is said if it fits the audio better than it fits silence", () => {
    expect(select(-2, -8)).toBe("we met Verkhovensky here");
    expect(select(-7, -8)).toBe("we met her cold and ski here");
    expect(select(-5, -5)).toBe("we met her cold and ski here");
  });

  test("words that are said after the term stay", () => {
    expect(select(-2, -8, 6 * TICKS - 100_000)).toBe("we met Verkhovensky here");
    expect(select(-2, -8, 6 * TICKS - 200_000)).toBe("we met her cold and ski here");
  });

  test("words that fit two terms about equally well stay", () => {
    const both = listAll({ Verkhovensky: [], Verkhovenska: [] });
    const compared = listComparisons(both, transcript);
    const alignments = align(-2, -8, 6 * TICKS, compared.requests);
    expect(selectByAudio(both, compared, { alignments, termCount: 2 })).toEqual([]);
  });

  test.each([
    ["that one is part of", "Offcut", "Offcut Studio", 1],
    ["that is part of it in one word", "Offcut-Studio", "Offcut", 1],
    ["that starts alike", "Martin", "Martinez", 0],
    ["that contains it", "Ann", "Hannah", 0],
  ])("a term beside one %s: %s, %s", (_, first, second, count) => {
    expect(selectEqual([first, second])).toBe(count);
  });

  test("a term beside a longer form of it and a rival", () => {
    expect(selectEqual(["Offcut", "Offcut Studio", "Ofcat"])).toBe(0);
  });

  /** Returns how many terms replace the same word, which all of them fit about equally well: the first slightly better. */
  function selectEqual(texts: string[]): number {
    const [first] = candidates;
    const { forms } = prepareTerms(texts.map((text) => ({ text, spoken_as: [] })));
    const same = texts.map((text) => ({ ...first!, term: forms.get(toFormKey(text))!, texts: [text] }));
    const compared = same.map((candidate, i) => ({
      ...{ candidate, similar: first!.similar!, place: 0, count: candidate.term.texts.length, end: 0 },
      ...{ fit: 2 * i, prior: 2 * i + 1 },
    }));
    const toAlignment = (text: string, logProb: number): ForcedAlignment => ({
      words: text.split(" ").map((word) => ({ text: word, start: 0, end: 0, confidence: Math.exp(logProb), logProb })),
      meanLogProb: logProb,
      tailLogProb: logProb,
    });
    // Longer terms are rated higher, so they are made likelier without audio.
    const alignments = texts.flatMap((text, i) => [
      toAlignment(text, -1),
      toAlignment(text, (0.4 * Math.min(12, text.length) - 14) / 0.7 + 0.1 * i),
    ]);
    return selectByAudio(same, { requests: [], compared }, { alignments, termCount: 2 }).length;
  }

  test.each([
    ["a quotation", 'he said "Hello there" to ~Pshibilsky now', "Przybylski", [4, 1]],
    ["signs and an amount", "we paid $5 - & (like) ~Pshibilsky now", "Przybylski", [2, 1]],
    ["a quotation at the start", '"Hello there" said ~Pshibilsky now', "Przybylski", [3, 1]],
    ["nothing, a term of several words", "~Pshibilsky now", "Przybylski & .Co Przybylski", [0, 2]],
    ["a word that its own dot joins", "we met ~Pshibilsky now", ".Przybylski", [1, 1]],
  ])("the aligned words of a term after %s", (_, text, term, expected) => {
    const said = toWords(text);
    const rules = { isCommon, kept: new Set<string>() };
    const terms = prepareTerms([{ text: "Przybylski", spoken_as: [] }]);
    const one = [...listCandidates(said, terms, rules)]
      .flat()
      .find(({ from, to }) => to - from === 1 && said[from]!.text === "Pshibilsky");
    const utterances = [{ start: 0, end: said.at(-1)!.end, text: "", meanLogProb: -0.2 }];
    const named = { ...one!, term: { ...one!.term, texts: term.split(" ") } };
    const [found] = listComparisons([named], { words: said, utterances }).compared;
    expect([found!.place, found!.count]).toEqual(expected as [number, number]);
  });

  test("each text is compared once", () => {
    const texts = comparison.requests.map(({ text, mute }) => `${mute ? "silence " : ""}${text}`);
    expect(new Set(texts).size).toBe(texts.length);
    expect(texts).toContain("silence I spoke with Verkhovensky");
    expect(texts).toContain("we met Verkhovensky here");
    const twice = candidates.flatMap((one) => [one, { ...one, from: one.from + 1 }]);
    expect(listComparisons(twice, transcript).requests.length).toBe(texts.length + 1);
    expect(listComparisons(twice, transcript, texts.length).requests.length).toBe(texts.length);
  });
});
