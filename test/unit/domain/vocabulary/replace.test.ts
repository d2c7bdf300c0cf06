import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Word } from "../../../../src/domain/speech";
import { replaceInBasis, replaceWords } from "../../../../src/domain/vocabulary/apply";
import { listCandidates, type Replacement } from "../../../../src/domain/vocabulary/candidates";
import { toFormKey } from "../../../../src/domain/vocabulary/entries";
import { measureDistance, measureLeastCost, toPhones, toPronunciation } from "../../../../src/domain/vocabulary/phones";
import { collectScriptTerms, listScriptKeys } from "../../../../src/domain/vocabulary/script-terms";
import { selectByText } from "../../../../src/domain/vocabulary/select";
import { prepareTerms } from "../../../../src/domain/vocabulary/terms";
import { yieldToEventLoop } from "../../../../src/lib/event-loop";
import { findReplacements } from "../../../../src/work/vocabulary/replace-words";
import { isCommon, type Options, TICKS, toEntries, toRules, toWords } from "./recognized-words";

function find(words: readonly Word[], { vocabulary, script = "" }: Options): Replacement[] {
  const rules = toRules(listScriptKeys(script));
  return selectByText([...listCandidates(words, prepareTerms(toEntries(vocabulary)), rules)].flat());
}

const replace = (text: string, options: Options): string => {
  const words = toWords(text);
  return replaceWords(words, find(words, options))
    .map((word) => word.text)
    .join(" ");
};

describe("text of recognized words", () => {
  const OFFCUT = { Offcut: ["off cut"] };
  const PRZYBYLSKI = { Przybylski: [] };
  test.each([
    ["a listed form of two words becomes one", "we use off cut here", OFFCUT, "we use Offcut here"],
    ["punctuation stays", "“Off cut,” it was.", OFFCUT, "“Offcut,” it was."],
    ["a listed form is found in other spellings", "we use OFF-CUT here", OFFCUT, "we use Offcut here"],
    ["a possessive stays one", "off cut’s here", OFFCUT, "Offcut’s here"],
    ["not across the end of a sentence", "it was off. Cut it here", OFFCUT, "it was off. Cut it here"],
    ["not across a pause", "it was off 1 cut here", OFFCUT, "it was off cut here"],
    ["an abbreviation does not end a sentence", "we met ~Ms. ~Urek", { Mazurek: ["ms urek"] }, "we met Mazurek"],
    ["doubtful words that sound like a term", "I met ~Pshibilsky here", PRZYBYLSKI, "I met Przybylski here"],
    ["words that were recognized clearly stay", "I met Pshibilsky here", PRZYBYLSKI, "I met Pshibilsky here"],
    [
      "doubtful words that sound different stay",
      "I met ~Montgomery here",
      PRZYBYLSKI,
      "I met ~Montgomery here".replace("~", ""),
    ],
    ["frequent words that are merely similar stay", "it was ~off ~our ~god", { Offkort: [] }, "it was off our god"],
    ["a frequent word is a term only as a listed form", "an apple", { Apple: [] }, "an apple"],
    ["a frequent word that is listed", "an apple", { Apple: ["apple"] }, "an Apple"],
    ["not with another word", "the apple", { Theo: ["the"], Appel: ["apple"] }, "the apple"],
    ["nor function words only", "it was of the apple", { Orvieto: ["of the"] }, "it was of the apple"],
    [
      "a name that is also a frequent word",
      "I met God, God, and a god",
      { Godt: ["god"] },
      "I met Godt, Godt, and a god",
    ],
    ["letters in a row that are also words", "we use A I here", { AI: ["a i"] }, "we use AI here"],
    ["a doubtful frequent word that is spelled alike", "it was ~here", { Herre: [] }, "it was here"],
    ["a rare word gets the case of the term", "the reaper here", { Reaper: [] }, "the Reaper here"],
    [
      "a term in lower case has a capital at the start",
      "Cube control was here",
      { kubectl: ["cube control"] },
      "Kubectl was here",
    ],
    ["and keeps its own case elsewhere", "here Cube control was", { kubectl: ["cube control"] }, "here kubectl was"],
    ["a term with capitals inside keeps them at the start", "I phone here", { iPhone: ["i phone"] }, "iPhone here"],
    ["a term that is spelled", "I met P. W. L. L. H. E. L. I. here", { Pwllheli: [] }, "I met Pwllheli here"],
    [
      "a spelled term at the end of a sentence",
      "we use o f f c u t. About it",
      { Offcut: ["off cut"] },
      "we use Offcut. About it",
    ],
    ["a spelled term before a pause", "o. f. f. c. u. t. 1 here", { Offcut: ["off cut"] }, "Offcut. here"],
    ["a spelled term at the end", "we use O. F. F. C. U. T.", { Offcut: ["off cut"] }, "we use Offcut."],
    ["two periods after a letter", "O. F. F. C. U. T.. Here it was", { Offcut: ["off cut"] }, "Offcut. Here it was"],
    [
      "a row of letters that goes on",
      "we met O. F. F. C. U. T. T. here",
      { Offcut: ["off cut"] },
      "we met Offcut T. here",
    ],
    ["a sentence after abbreviated letters", "we use I. B. M. I like it", { IBM: [] }, "we use IBM. I like it"],
    ["a sentence after letters", "we use o f f c u t. I met", { Offcut: ["off cut"] }, "we use Offcut. I met"],
    ["a letter that the term ends with", "vitamin c. Then it was", { "Vitamin C": [] }, "Vitamin C. Then it was"],
    ["the same before a small letter", "plan b. it was", { "Plan B": [] }, "Plan B. it was"],
    ["an ellipsis after a letter", "iphone x... is here", { "iPhone X": [] }, "iPhone X... is here"],
    [
      "a term that ends with a period",
      "we met Of cut inc. It was",
      { "Offcut Inc.": ["of cut inc"] },
      "we met Offcut Inc. It was",
    ],
    ["one word becomes two", "we met yanprizbilski", { "Jan Przybylski": ["yanprizbilski"] }, "we met Jan Przybylski"],
    [
      "the longest form wins",
      "off cut studio here",
      { Offcut: ["off cut"], "Offcut Studio": ["off cut studio"] },
      "Offcut Studio here",
    ],
    [
      "a listed form wins over a similar term",
      "~Pshibilsky",
      { Przybylski: [], Pshibylsky: ["pshibilsky"] },
      "Pshibylsky",
    ],
    ["other scripts", "我 用 奥夫卡特", { Offcut: ["奥夫卡特"] }, "我 用 Offcut"],
  ] as [string, string, Options["vocabulary"], string][])("%s", (_, text, vocabulary, expected) => {
    expect(replace(text, { vocabulary })).toBe(expected);
  });

  test("a word of the script stays, and a form that contains one", () => {
    const script = "We say off air.";
    expect(replace("we use off cut here", { vocabulary: OFFCUT, script })).toBe("we use off cut here");
    expect(replace("I met ~Pshibilsky", { vocabulary: PRZYBYLSKI, script: "I met Pshibilsky." })).toBe(
      "I met Pshibilsky",
    );
  });

  test("times: several words for one cover its span, one for several has all of theirs, as many keep them", () => {
    const timesOf = (text: string, vocabulary: Options["vocabulary"]) => {
      const words = toWords(text);
      return replaceWords(words, find(words, { vocabulary })).map((word) => [word.text, word.start, word.end]);
    };
    expect(timesOf("off cut here", OFFCUT)).toEqual([
      ["Offcut", 0, 2 * TICKS],
      ["here", 2 * TICKS, 3 * TICKS],
    ]);
    const [first, second] = timesOf("janko", { "Jan Ko": ["janko"] });
    expect([first![0], first![1], second![0], second![2]]).toEqual(["Jan", 0, "Ko", TICKS]);
    expect(first![2]).toBe(second![1]!);
    expect(timesOf("yan ko", { "Jan Ko": ["yan ko"] })).toEqual([
      ["Jan", 0, TICKS],
      ["Ko", TICKS, 2 * TICKS],
    ]);
  });
});

test("the texts of a plan have the replacements where they have the words", () => {
  const words = toWords("we use off cut here and off cut");
  const replacements = find(words, { vocabulary: { Offcut: ["off cut"] } });
  const span = (from: number, to: number, text: string) => ({
    start: from * TICKS,
    end: to * TICKS,
    text,
    reason: null,
    findings: [],
  });
  const spans = [span(0, 5, "we use off cut here"), span(5, 7, "and of"), span(7, 8, "cut")];
  expect(replaceInBasis({ spans }, words, replacements).spans.map(({ text }) => text)).toEqual([
    "we use Offcut here",
    "and of",
    "cut",
  ]);
});

test("only the words that a term replaces change, whatever is said", () => {
  const word = fc.constantFrom(
    "off",
    "cut",
    "Off-cut,",
    "ski.",
    "Przybylsky",
    "prizbilski",
    "…",
    "-",
    "",
    "and",
    "It’s",
    "Kowalczyk’s",
  );
  const said = fc.array(
    fc.record({ text: word, confidence: fc.double({ min: 0, max: 1, noNaN: true }), gap: fc.constantFrom(0, 900_000) }),
  );
  const term = fc.constantFrom("Przybylski", "Offcut", "Jan Kowalczyk", "kubectl", "A B C");
  const entries = fc.uniqueArray(
    fc.record({ text: term, spoken_as: fc.uniqueArray(fc.constantFrom("off cut", "ski", "and", "prizbilski")) }),
    {
      selector: ({ text }) => text,
    },
  );
  fc.assert(
    fc.property(said, entries, (parts, vocabulary) => {
      let at = 0;
      const words = parts.map(({ text, confidence, gap }) => {
        const start = at + gap;
        at = start + TICKS;
        return { text, start, end: at, confidence };
      });
      const found = selectByText([...listCandidates(words, prepareTerms(vocabulary), toRules())].flat());
      const replaced = replaceWords(words, found);
      // In order, disjoint, and each within one sentence.
      for (const [i, { from, to }] of found.entries()) {
        expect(from >= (found[i - 1]?.to ?? 0) && to > from).toBe(true);
        expect(words.slice(from, to - 1).some(({ text }) => text.endsWith("."))).toBe(false);
      }
      const others = words.filter((_, i) => !found.some(({ from, to }) => i >= from && i < to));
      for (const one of others) expect(replaced).toContain(one);
      for (const [i, one] of replaced.entries()) {
        expect(one.end).toBeGreaterThanOrEqual(one.start);
        expect(one.start).toBeGreaterThanOrEqual(replaced[i - 1]?.end ?? 0);
      }
    }),
  );
});

test("letters in a row keep the process from other work only briefly, with the largest vocabulary", async () => {
  const letters = "etaoinshrdlucmfwypvbgkjqxz";
  let seed = 1;
  const pick = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return letters[seed % letters.length]!;
  };
  const entries = Array.from({ length: 2_000 }, () => ({
    text: Array.from({ length: 30 }, pick).join(""),
    spoken_as: [],
  }));
  const words = toWords(Array.from({ length: 100 }, () => `~${pick()}`).join(" "));
  // Processor time: other load does not change it.
  const measureMs = () => process.threadCpuUsage().user / 1_000;
  let [longestMs, sinceMs, isDone] = [0, measureMs(), false];
  const watch = async () => {
    while (!isDone) {
      await yieldToEventLoop();
      const nowMs = measureMs();
      longestMs = Math.max(longestMs, nowMs - sinceMs);
      sinceMs = nowMs;
    }
  };
  const watching = watch();
  const transcript = { language: "en", words, utterances: [] };
  expect(await findReplacements(transcript, { entries, kept: new Set(), speech: null })).toEqual([]);
  isDone = true;
  await watching;
  expect(longestMs).toBeLessThan(300);
}, 30_000);

test("a search among the longest terms takes milliseconds", () => {
  let seed = 1;
  const pick = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return "bdfgklmnprst"[seed % 12]!;
  };
  const toLong = () => Array.from({ length: 78 }, pick).join("");
  const { findSimilar } = prepareTerms(Array.from({ length: 2_000 }, () => ({ text: toLong(), spoken_as: [] })));
  const texts = Array.from({ length: 20 }, toLong);
  const startedMs = process.threadCpuUsage().user / 1_000;
  for (const text of texts) findSimilar(text);
  // Without a bound each takes 50 to 110 ms.
  expect((process.threadCpuUsage().user / 1_000 - startedMs) / texts.length).toBeLessThan(30);
}, 30_000);

test.each([
  ["Przybylski", "Pshibilsky", 0.2],
  ["Djibouti", "Jibiti", 0.25],
  ["Kowalczyk", "Kovalchick", 0.15],
  ["Schwarzenegger", "Schwartzenegger", 0.15],
  ["Räikkönen", "Raikonen", 0.1],
])("%s sounds like %s", (name, spelling, most) => {
  const measure = (text: string) => measureDistance(toPronunciation(toPhones(name)), toPronunciation(toPhones(text)));
  expect(measure(spelling)).toBeLessThanOrEqual(most);
  expect(measure("the numbers")).toBeGreaterThan(0.5);
});

test("a distance is symmetric, and 0 for equal spellings", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 30 }), fc.string({ maxLength: 30 }), (a, b) => {
      const [one, other] = [toPronunciation(toPhones(a)), toPronunciation(toPhones(b))];
      expect(measureDistance(one, one)).toBe(0);
      expect(measureDistance(one, other)).toBeCloseTo(measureDistance(other, one), 9);
    }),
  );
});

test("a replacement far into a day of words keeps the others", () => {
  const words = Array.from({ length: 200_000 }, (_, n) => ({ text: "a", start: n, end: n + 1, confidence: 1 }));
  const replaced = replaceWords(words, [{ from: 150_000, to: 150_002, texts: ["Offcut"] }]);
  expect([replaced.length, replaced[150_000], replaced[150_001]]).toEqual([
    199_999,
    { text: "Offcut", start: 150_000, end: 150_002, confidence: 1 },
    words[150_002],
  ]);
});

describe("the search for similar terms", () => {
  /** Phones that recognizers confuse at little cost although they weigh differently are frequent. */
  const sounds = fc.string({ unit: fc.constantFrom(..."vwyjkhgabdt", ..."szmnlrpfc7ш"), minLength: 1, maxLength: 14 });
  const pronounce = (text: string) => toPronunciation(toPhones(text));
  /** Without a limit, every cost is computed. */
  const measureFully = (a: string, b: string) => measureDistance(pronounce(a), pronounce(b), Number.MAX_VALUE);

  test("finds the same terms as a comparison with all, and the first listed of equal ones", () => {
    fc.assert(
      fc.property(fc.uniqueArray(sounds, { maxLength: 60 }), sounds, (names, text) => {
        const expected = names
          .filter((name) => pronounce(name).weight >= 1.6)
          .map((name) => ({ name, distance: measureFully(name, text) }))
          .filter(({ distance }) => distance < 0.64)
          .sort((a, b) => a.distance - b.distance)
          .slice(0, 3);
        const { findSimilar } = prepareTerms(names.map((name) => ({ text: name, spoken_as: [] })));
        const found = findSimilar(text).map(({ term, distance }) => ({ name: term.texts.join(" "), distance }));
        expect(found).toEqual(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ["Vava", "wawa", 0.2],
    ["Yayaya", "gegege", 0.4],
    ["Kaka", "haha", 0.37],
  ])("finds %s for %s, whose confused letters weigh differently", (name, text, limit) => {
    const { findSimilar } = prepareTerms([{ text: name, spoken_as: [] }]);
    expect(findSimilar(text, limit)).toHaveLength(1);
  });

  test("a least cost is never above the cost", () => {
    fc.assert(
      fc.property(sounds, sounds, (a, b) => {
        const [one, other] = [pronounce(a), pronounce(b)];
        const cost = measureFully(a, b) * Math.max(one.weight, other.weight);
        expect(measureLeastCost(one, other.profile)).toBeLessThanOrEqual(cost + 1e-9);
        expect(measureLeastCost(one, new Int32Array(one.profile.length))).toBeLessThanOrEqual(one.weight + 1e-9);
      }),
      { numRuns: 2_000 },
    );
  });
});

test("names and terms of a script are collected, other words are not", () => {
  const terms = (script: string, language: string | null = "en") =>
    collectScriptTerms(script, language, isCommon).map(({ text }) => text);
  expect(
    terms("I met Mrs. Przybylski in Ouagadougou. Apple was here.\nWonderful news, said Przybylski’s friend."),
  ).toEqual(["Przybylski", "Ouagadougou"]);
  expect(terms("We use ffmpeg, PyTorch and OpenTimelineIO.")).toEqual(["PyTorch", "OpenTimelineIO"]);
  expect(terms("It was here, in the Kitchen. The kitchen was cold.")).toEqual([]);
  expect(terms("ALL OF THIS IS IN CAPITALS")).toEqual([]);
  expect(terms("Wir sahen das Fenster, sagte Przybylski.", "de")).toEqual([]);
  expect(toFormKey("Räikkönen’s")).toBe("raikkonens");
  // Marks are sounds there.
  expect(new Set(["バス", "パス", "ハス", "काल", "कल"].map(toFormKey)).size).toBe(5);
});
