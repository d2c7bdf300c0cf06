import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { ForcedAlignment, Recognition } from "../../../../src/domain/speech";
import type { Span } from "../../../../src/domain/time";
import { replaceWords } from "../../../../src/domain/vocabulary/apply";
import { listCandidates } from "../../../../src/domain/vocabulary/candidates";
import { type Comparison, listComparisons } from "../../../../src/domain/vocabulary/compare";
import { toFormKey } from "../../../../src/domain/vocabulary/entries";
import { removeAccents } from "../../../../src/domain/vocabulary/phones";
import { compareReadings, listSecondReadings } from "../../../../src/domain/vocabulary/second-reading";
import { createSaidCheck, rateByAudio, selectByAudio } from "../../../../src/domain/vocabulary/select";
import { prepareTerms } from "../../../../src/domain/vocabulary/terms";
import { findReplacements } from "../../../../src/work/vocabulary/replace-words";
import { type Options, TICKS, toEntries, toRules, toWords } from "./recognized-words";

describe("with audio", () => {
  const words = toWords("we met ~her ~cold ~and ~ski here");
  const transcript = { words, utterances: [{ start: 0, end: words.at(-1)!.end, text: "", meanLogProb: -0.2 }] };
  const listAll = (vocabulary: Options["vocabulary"]) =>
    [...listCandidates(words, prepareTerms(toEntries(vocabulary)), toRules())].flat();
  const candidates = listAll({ Verkhovensky: [] });
  const comparison = listComparisons(candidates, transcript);
  const align = (
    fit: number,
    prior: number,
    end: number,
    requests = comparison.requests,
    start = 0,
  ): ForcedAlignment[] =>
    requests.map(({ text, mute }) => ({
      words: text
        .split(" ")
        .map((word) => ({ text: word, start, end, confidence: Math.exp(mute ? prior : fit), logProb: 0 })),
      meanLogProb: 0,
      tailLogProb: 0,
    }));
  const select = (fit: number, prior: number, end = 6 * TICKS, start = 0) => {
    const alignments = align(fit, prior, end, comparison.requests, start);
    return replaceWords(words, selectByAudio(candidates, rateByAudio(comparison, { alignments, termCount: 1 })))
      .map((word) => word.text)
      .join(" ");
  };

  test("a term is said if it fits the audio better than it fits silence", () => {
    expect(select(-2, -8)).toBe("we met Verkhovensky here");
    expect(select(-7, -8)).toBe("we met her cold and ski here");
    expect(select(-5, -5)).toBe("we met her cold and ski here");
  });

  test("a term whose score is too low, or that the audio hardly makes likelier, was not said", () => {
    const rated = (score: number) => [{ candidate: candidates[0]!, score }];
    expect([0.3, 0.4].map((score) => selectByAudio(candidates, rated(score)).length)).toEqual([0, 1]);
    expect([0.3, 0.4].map((score) => createSaidCheck(rated(score))(candidates[0]!))).toEqual([false, true]);
    expect(createSaidCheck(rated(1))({ ...candidates[0]!, to: candidates[0]!.to + 1 })).toBe(false);
    const { term, similar } = candidates[0]!;
    const exact = { ...comparison, compared: [{ ...comparison.compared[0]!, similar: { ...similar!, distance: 0 } }] };
    const rate = (fit: number, prior: number) =>
      rateByAudio(exact, { alignments: align(fit, prior, 6 * TICKS), termCount: 1 })[0]!.score;
    expect(term.texts).toEqual(["Verkhovensky"]);
    expect(rate(-1, -1.9)).toBe(Number.NEGATIVE_INFINITY);
    expect(rate(-1, -2.1)).toBeGreaterThan(Number.NEGATIVE_INFINITY);
  });

  test("a common word that is listed as a form is a term only where the audio fits it", () => {
    const said = toWords("we met the apple");
    const spoken = { words: said, utterances: [{ start: 0, end: 4 * TICKS, text: "", meanLogProb: -0.2 }] };
    const listed = [...listCandidates(said, prepareTerms(toEntries({ Theo: ["the"] })), toRules())].flat();
    const { requests, ...compared } = listComparisons(listed, spoken);
    const selectWith = (fit: number) => {
      const alignments = align(fit, -8, 3 * TICKS, requests, 2 * TICKS);
      return selectByAudio(listed, rateByAudio({ requests, ...compared }, { alignments, termCount: 1 }));
    };
    expect(selectWith(-2).map(({ texts }) => texts)).toEqual([["Theo"]]);
    expect(selectWith(-7)).toEqual([]);
  });

  test("words that are said before and after the term stay, unless the term fits very well", () => {
    const end = 6 * TICKS;
    expect(select(-4, -8, end - 100_000, 2 * TICKS + 100_000)).toBe("we met Verkhovensky here");
    expect(select(-4, -8, end - 200_000)).toBe("we met her cold and ski here");
    expect(select(-4, -8, end, 2 * TICKS + 200_000)).not.toContain("met Verkhovensky");
    expect(select(-1, -12, end - 200_000)).toBe("we met Verkhovensky here");
  });

  test("what almost fits is recognized again, and fits if that reading is more similar", async () => {
    const asked: Span[] = [];
    const find = (readings: string, fit: number) =>
      findReplacements(
        { language: "en", ...transcript },
        {
          entries: toEntries({ Verkhovensky: [] }),
          kept: new Set(),
          speech: {
            forcedAlign: async (requests) => align(fit, -8, 6 * TICKS, requests),
            recognize: async (requests) => {
              asked.push(...requests.map(({ window }) => window));
              const [start, end] = [2 * TICKS, 6 * TICKS];
              return requests.map(() => ({
                words: [{ text: readings, start, end, confidence: 0.4 }],
                meanLogProb: -1,
              }));
            },
          },
        },
      );
    expect(await find("Verkhovenski,", -6.2)).toEqual([{ from: 2, to: 6, texts: ["Verkhovensky"] }]);
    expect(asked.length).toBe(2);
    for (const window of asked) {
      expect(window.start).toBeLessThan(2 * TICKS);
      expect(window.end).toBe(transcript.utterances[0]!.end);
    }
    expect(await find("curtains", -6.2)).toEqual([]);
    asked.length = 0;
    expect(await find("Verkhovenski", -2)).toHaveLength(1);
    expect(await find("Verkhovenski", -8.9)).toEqual([]);
    expect(asked).toEqual([]);
  });

  describe("second readings", () => {
    const said = toWords(`we met ~her ~cold ~and ~ski ~Offgut here`);
    const utterances = [{ start: 0, end: said.at(-1)!.end, text: "", meanLogProb: -0.2 }];
    const terms = prepareTerms(toEntries({ Verkhovensky: [], Offcut: [] }));
    const listed = [...listCandidates(said, terms, toRules())].flat();
    const { requests, compared } = listComparisons(listed, { words: said, utterances });
    const rate = (scores: Record<string, number>) =>
      listed.map((candidate) => ({ candidate, score: scores[`${candidate.from} ${candidate.to}`] ?? -20 }));
    const toReading = (text: string): Recognition => ({
      words: text === "" ? [] : [{ text, start: 2 * TICKS, end: 6 * TICKS, confidence: 0.4 }],
      meanLogProb: -1,
    });
    const measure = (texts: string[], from: number, to: number) => {
      const readings = listSecondReadings(rate({ "2 6": -2, "6 7": 3 }), { words: said, utterances });
      const again = compareReadings({ requests, compared }, readings, texts.map(toReading));
      const find = ({ compared: all }: Comparison) =>
        all.find(({ candidate }) => candidate.from === from && candidate.to === to)!.similar.distance;
      return [find({ requests, compared }), find(again)] as const;
    };

    test("a term that is surely said beside a doubtful one keeps its distance", () => {
      const [before, after] = measure(["Verkhovensky", "Verkhovensky"], 6, 7);
      expect(after).toBe(before);
      const [first, second] = measure(["Verkhovensky", "Verkhovensky"], 2, 6);
      expect(second).toBe(first / 2);
    });

    test("a reading without words does not count", () => {
      const [before, after] = measure(["", ""], 2, 6);
      expect(after).toBe(before);
      expect(measure(["", "Verkhovensky"], 2, 6)[1]).toBe(before / 2);
    });

    test("the best places are read again, within the budget for the recording", () => {
      const count = 400;
      const many = toWords(Array.from({ length: count }, () => "~Offgut here 2").join(" "));
      const utterance = { start: 0, end: many.at(-1)!.end, text: "", meanLogProb: -0.2 };
      const [one] = listed.filter(({ from }) => from === 6);
      const rated = Array.from({ length: count }, (_, i) => ({
        candidate: { ...one!, from: 2 * i, to: 2 * i + 1 },
        score: -4 + i / count,
      }));
      const readings = listSecondReadings(rated, { words: many, utterances: [utterance] });
      const total = readings.reduce((sum, { window }) => sum + window.end - window.start, 0);
      expect(total).toBeLessThanOrEqual(60_000_000);
      expect(total).toBeGreaterThan(57_000_000);
      expect(Math.min(...readings.map(({ from }) => from))).toBeGreaterThan(2 * (count - readings.length));
    });
  });

  test("a short word that the term leaves mostly uncovered stays", () => {
    const brief = words.map((word, i) => (i === 5 ? { ...word, end: word.start + 100_000 } : word));
    const [one] = candidates.filter(({ to }) => to === 6);
    const { compared, requests } = listComparisons([one!], { ...transcript, words: brief });
    const count = (end: number) =>
      selectByAudio(
        [one!],
        rateByAudio({ compared, requests }, { alignments: align(-4, -8, end, requests), termCount: 1 }),
      ).length;
    expect([count(5 * TICKS + 50_000), count(5 * TICKS + 10_000)]).toEqual([1, 0]);
  });

  test("words that take longer than a term does at the pace of the recording stay", () => {
    const stretches = ["Verkhovensky", "Verk", "VRKH"].map((text) => {
      const term = { ...candidates[0]!.term, texts: [text] };
      return listComparisons([{ ...candidates[0]!, term }], transcript).compared[0]!.stretch;
    });
    expect(stretches[1]! - stretches[0]!).toBeCloseTo(Math.log(12 / 4));
    expect(stretches[1]! - stretches[2]!).toBeCloseTo(Math.log(12 / 4));
    const { compared, requests } = comparison;
    const count = (stretch: number) => {
      const stretched = { requests, compared: compared.map((one) => ({ ...one, stretch })) };
      return selectByAudio(candidates, rateByAudio(stretched, { alignments: align(-2, -8, 6 * TICKS), termCount: 1 }))
        .length;
    };
    expect(count(0)).toBeGreaterThan(0);
    expect(count(1.5)).toBe(0);
  });

  test("accents are not compared with the audio, and are written", () => {
    const accented = listAll({ Vérkhôvënský: [] });
    const texts = listComparisons(accented, transcript).requests.map(({ text }) => text);
    expect(texts).toContain("we met Verkhovensky here");
    expect(accented[0]!.texts).toEqual(["Vérkhôvënský"]);
    expect(removeAccents("Phạm Đà Łódź Kılıç straße バス")).toBe("Pham Da Lodz Kilic strasse バス");
  });

  test("whatever fits the audio, other words and times stay, and so do words of the script", () => {
    const part = fc.constantFrom("met", "~her", "~cold", "~cold.", "~and", "~ski", "~Off", "~cut", "~Pshibilsky,", "1");
    const logProb = fc.double({ min: -12, max: 0, noNaN: true });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), fc.array(logProb, { minLength: 1 }), (parts, values) => {
        const said = toWords(["we", ...parts].join(" "));
        const kept = new Set(["her", "cold"]);
        const terms = prepareTerms(toEntries({ Verkhovensky: [], Offcut: [], Przybylski: [], Cold: [] }));
        const listed = [...listCandidates(said, terms, toRules(kept))].flat();
        const recording = { words: said, utterances: [{ start: 0, end: said.at(-1)!.end, text: "", meanLogProb: -1 }] };
        const compared = listComparisons(listed, recording);
        const alignments = compared.requests.map(({ text, window }, n): ForcedAlignment => {
          const value = values[n % values.length]!;
          const aligned = { ...window, confidence: Math.exp(value), logProb: value };
          return {
            words: text.split(" ").map((word) => ({ text: word, ...aligned })),
            meanLogProb: value,
            tailLogProb: value,
          };
        });
        const found = selectByAudio(listed, rateByAudio(compared, { alignments, termCount: 4 }));
        const replaced = replaceWords(said, found);
        for (const [i, { from, to, texts }] of found.entries()) {
          expect(from >= (found[i - 1]?.to ?? 0) && to > from).toBe(true);
          const run = said.slice(from, to);
          expect(run.slice(0, -1).some(({ text }) => text.endsWith("."))).toBe(false);
          expect(run.some(({ text }) => kept.has(toFormKey(text)))).toBe(false);
          for (const [n, word] of run.slice(1).entries()) expect(word.start - run[n]!.end).toBeLessThan(1_000_000);
          const places = replaced.filter(({ start, end }) => start >= run[0]!.start && end <= run.at(-1)!.end);
          expect(places.map(({ text }) => text)).toEqual(texts);
          expect([places[0]!.start, places.at(-1)!.end]).toEqual([run[0]!.start, run.at(-1)!.end]);
        }
        const others = said.filter((_, i) => !found.some(({ from, to }) => i >= from && i < to));
        for (const one of others) expect(replaced).toContain(one);
      }),
    );
  });

  test("words that fit two terms about equally well stay", () => {
    const both = listAll({ Verkhovensky: [], Verkhovenska: [] });
    const compared = listComparisons(both, transcript);
    const alignments = align(-2, -8, 6 * TICKS, compared.requests);
    expect(selectByAudio(both, rateByAudio(compared, { alignments, termCount: 2 }))).toEqual([]);
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

  /**
   * Returns how many terms replace the same word, which all of them fit about equally well: the first slightly better.
   */
  function selectEqual(texts: string[]): number {
    const [first] = candidates;
    const { forms } = prepareTerms(texts.map((text) => ({ text, spoken_as: [] })));
    const same = texts.map((text) => ({ ...first!, term: forms.get(toFormKey(text))!, texts: [text] }));
    const compared = same.map((candidate, i) => ({
      ...{
        candidate,
        similar: first!.similar!,
        place: 0,
        count: candidate.term.texts.length,
        first: { start: 0, end: 0 },
        last: { start: 0, end: 0 },
        stretch: 0,
      },
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
      toAlignment(text, (0.23 * Math.min(12, text.length) - 14) / 1.22 + 0.1 * i),
    ]);
    return selectByAudio(same, rateByAudio({ requests: [], compared }, { alignments, termCount: 2 })).length;
  }

  test.each([
    ["a quotation", 'he said "Hello there" to ~Pshibilsky now', "Przybylski", [4, 1]],
    ["signs and an amount", "we paid $5 - & (like) ~Pshibilsky now", "Przybylski", [2, 1]],
    ["a quotation at the start", '"Hello there" said ~Pshibilsky now', "Przybylski", [3, 1]],
    ["nothing, a term of several words", "~Pshibilsky now", "Przybylski & .Co Przybylski", [0, 2]],
    ["a word that its own dot joins", "we met ~Pshibilsky now", ".Przybylski", [1, 1]],
  ])("the aligned words of a term after %s", (_, text, term, expected) => {
    const said = toWords(text);
    const rules = toRules();
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
