import { expect, test } from "bun:test";
import type { AlignmentRequest, ForcedAlignment } from "../../../../src/domain/speech";
import type { TermCandidate } from "../../../../src/domain/vocabulary/candidates";
import { compareWholeTexts, listWholeTexts } from "../../../../src/domain/vocabulary/whole-texts";
// The tokenizer takes seconds to load on a busy machine.
import "../../../../src/speech/tokens";
import { findReplacements } from "../../../../src/work/vocabulary/replace-words";
import { TICKS, toEntries, toWords } from "./recognized-words";

/**
 * Returns the terms that replace words. `likely` has the log probabilities of the words of texts; others are as given.
 */
async function find(
  text: string,
  vocabulary: Record<string, string[]>,
  likely: Record<string, number[]>,
  other: number,
): Promise<string[]> {
  const words = toWords(text);
  const utterances = [{ start: 0, end: words.at(-1)!.end, text: "", meanLogProb: -0.2 }];
  const toAlignment = ({ text, mute }: AlignmentRequest): ForcedAlignment => ({
    words: text.split(" ").map((word, n) => {
      const logProb = mute ? -12 : (likely[text]?.[n] ?? other);
      const [from, to] = [2 * TICKS, words.at(-2)!.end];
      return { text: word, start: from, end: to, confidence: Math.exp(logProb), logProb: 0 };
    }),
    meanLogProb: 0,
    tailLogProb: 0,
  });
  const found = await findReplacements(
    { language: "en", words, utterances },
    {
      entries: toEntries(vocabulary),
      kept: new Set(),
      speech: {
        forcedAlign: async (requests) => requests.map(toAlignment),
        recognize: async (requests) => requests.map(() => ({ words: [], meanLogProb: -1 })),
      },
    },
  );
  return found.map(({ from, to, texts }) => `${from}-${to} ${texts.join(" ")}`);
}

const VERKHOVENSKY = { Verkhovensky: [] };
// The whole text, then with the last and with the first word kept.
const WHOLE = "we met Verkhovensky here";
const LAST = "we met Verkhovensky and, here";
const FIRST = "we met her Verkhovensky here";

test("a word beside a term stays if the text with it fits the audio better", async () => {
  const whole = [-0.1, -0.1, -1, -7];
  const last = { [WHOLE]: whole, [LAST]: [-0.1, -0.1, -4, -0.5, -0.1] };
  expect(await find("we met ~verk ~hoven ~ski ~and, here", VERKHOVENSKY, last, -9)).toEqual(["2-5 Verkhovensky"]);
  const first = { [WHOLE]: whole, [FIRST]: [-0.1, -0.1, -0.5, -4, -0.1] };
  expect(await find("we met ~her ~verk ~hoven ~ski, here", VERKHOVENSKY, first, -9)).toEqual(["3-6 Verkhovensky,"]);
});

test("a word that was part of the term is replaced, also where the text with it fits slightly better", async () => {
  const said = "we met ~her ~cold ~and ~ski, here";
  const whole = [-0.1, -0.1, -1, -7];
  expect(
    await find(
      said,
      VERKHOVENSKY,
      { [WHOLE]: whole, "we met Verkhovensky ski, here": [-0.1, -0.1, -1.5, -5.5, -0.1] },
      -9,
    ),
  ).toEqual(["2-6 Verkhovensky,"]);
  // Listed forms are not compared with the audio.
  expect(
    await find(said, { Verkhovensky: ["her cold and ski"] }, { "we met Verkhovensky ski, here": [0, 0, 0, 0, 0] }, -9),
  ).toEqual(["2-6 Verkhovensky,"]);
});

test("the term keeps the possessive of its last word", async () => {
  const vocabulary = { verkhovensky: [] };
  const texts = { "we met verkhovensky here": [-0.1, -0.1, -1, -7] };
  const last = { "we met verkhovensky and here": [-0.1, -0.1, -4, -0.5, -0.1] };
  expect(await find("we met ~Verk ~hoven ~ski's ~and here", vocabulary, { ...texts, ...last }, -9)).toEqual([
    "2-5 verkhovensky's",
  ]);
});

test("a phrase of frequent words that were recognized clearly stays if it fits the audio better", async () => {
  const findOfovcut = (said: string, recognized: number) =>
    find(
      said,
      { Ofovcut: [] },
      {
        "we met Ofovcut here": [-0.1, -0.1, -1, -7],
        "we met off of cut here": [-0.1, -0.1, -recognized, -0.1, -0.1, -0.1],
      },
      -9,
    );
  const clear = "we met ≈off ≈of ≈cut here";
  expect(await findOfovcut(clear, 0.5)).toEqual([]);
  expect(await findOfovcut(clear, 3)).toEqual(["2-5 Ofovcut"]);
  expect(await findOfovcut("we met ~off ~of ~cut here", 0.5)).toEqual(["2-5 Ofovcut"]);
});

test.each([
  [0.5, []],
  [3, ["2-3 Kutt"]],
])(
  "a frequent word stays if it fits the audio much better in the place of the term: %d",
  async (recognized, expected) => {
    const texts = {
      "we met Kutt here": [-0.1, -0.1, -5.8, -0.1],
      // The following words do not count, only the place of the term.
      "we met cut here": [-0.1, -0.1, -recognized, -3],
    };
    expect(await find("we met ~cut here", { Kutt: [] }, texts, -9)).toEqual(expected);
  },
);

test("a term that does not fit the words that are left to it is not placed there", () => {
  const words = toWords("we met ~her ~cold here");
  const utterances = [{ start: 0, end: words.at(-1)!.end, text: "", meanLogProb: -0.2 }];
  const term = { texts: ["Verkhovensky"], key: "verkhovensky" } as unknown as TermCandidate["term"];
  const similar = { distance: 0.5, confidence: 0.4, isDoubtful: true, isCommon: false };
  const wide = { from: 2, to: 4, texts: term.texts, term, similar };
  const { requests, texts } = listWholeTexts([wide], { words, utterances });
  const alignments = requests.map(({ text }): ForcedAlignment => {
    const confidence = text === "we met Verkhovensky cold here" ? 0.9 : 0.1;
    return {
      words: text.split(" ").map((word) => ({ text: word, start: 0, end: 0, confidence, logProb: 0 })),
      meanLogProb: 0,
      tailLogProb: 0,
    };
  });
  const said = compareWholeTexts([wide], texts, { alignments, wasSaid: () => true });
  expect(said.map(({ from, to }) => [from, to])).toEqual([[2, 3]]);
  expect(compareWholeTexts([wide], texts, { alignments, wasSaid: () => false })).toEqual([]);
});

test("a term stays where a long text was not aligned to its place", () => {
  const words = toWords("we met ~cut here");
  const utterances = [{ start: 0, end: words.at(-1)!.end, text: "", meanLogProb: -0.2 }];
  const term = { texts: ["Kutt"], key: "kutt" } as unknown as TermCandidate["term"];
  const similar = { distance: 0.3, confidence: 0.4, isDoubtful: true, isCommon: true };
  const wide = { from: 2, to: 3, texts: term.texts, term, similar };
  const { requests, texts } = listWholeTexts([wide], { words, utterances });
  const find = (aligned: number) => {
    const alignments = requests.map(({ text }): ForcedAlignment => {
      const isTerm = text.includes("Kutt");
      const found = text.split(" ").slice(0, isTerm ? 4 : aligned);
      const confidence = isTerm ? 1e-4 : 0.9;
      return {
        words: found.map((word) => ({ text: word, start: 0, end: 0, confidence, logProb: 0 })),
        meanLogProb: 0,
        tailLogProb: 0,
      };
    });
    return compareWholeTexts([wide], texts, { alignments, wasSaid: () => true });
  };
  expect(find(4)).toEqual([]);
  expect(find(2)).toEqual([wide]);
});

test("beyond the maximum number of texts, terms stay without the comparison", () => {
  const words = toWords("~off ~of ~cut ~off ~of ~cut ~off ~of ~cut");
  const utterances = [{ start: 0, end: words.at(-1)!.end, text: "", meanLogProb: -0.2 }];
  const term = { texts: ["Ofovcut"], key: "ofovcut", spoken: new Set<string>() } as unknown as TermCandidate["term"];
  const similar = { distance: 0.3, confidence: 0.4, isDoubtful: true, isCommon: true };
  const candidates = [0, 3, 6].map((from) => ({ from, to: from + 3, texts: term.texts, term, similar }));
  const { requests, texts } = listWholeTexts(candidates, { words, utterances }, 4);
  expect([requests.length, texts.length]).toEqual([4, 1]);
  const fit = { words: [{ text: "", start: 0, end: 0, confidence: 1 }], meanLogProb: 0, tailLogProb: 0 };
  const alignments = requests.map(() => fit) as ForcedAlignment[];
  expect(compareWholeTexts(candidates, texts, { alignments, wasSaid: () => false })).toEqual(candidates);
});
