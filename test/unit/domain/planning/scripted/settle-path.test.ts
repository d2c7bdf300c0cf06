import { describe, expect, test } from "bun:test";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import type { LineCandidate } from "../../../../../src/domain/planning/scripted/line-candidates";
import { alignLineAt } from "../../../../../src/domain/planning/scripted/match-lines";
import { parseScript } from "../../../../../src/domain/planning/scripted/script-lines";
import { settlePath } from "../../../../../src/domain/planning/scripted/settle-path";
import { tokenize } from "../../../../../src/domain/planning/tokens";
import { createRecordedWords, createRecording, cutWithScript, listKeptWords } from "./spoken-recording";

// Two sentences as they were recognized in a recording, with their times and confidences.
const LOOK_ALIKES =
  "Press 118 146 96 | the 146 158 96 | green 158 192 99 | button 192 221 100 | to 221 239 100 | start 239 273 100 | the 273 288 100 | machine. 288 352 94 | Press 438 465 98 | the 465 476 99 | green 476 510 99 | button 510 542 100 | to 542 556 100 | stop 556 594 97 | the 594 604 100 | machine. 604 669 94 | The 753 762 100 | left 762 799 99 | lamp 799 831 93 | shows 831 871 99 | that 871 888 100 | the 888 901 100 | water 901 930 99 | is 930 943 100 | warm. 943 990 97";

/** The second line has three wrong words: none of its candidates aligns. */
const SCRIPT = "Press the green button to start the machine.\nPress green green button to stop the window.";

describe("two lines that look alike, the second with wrong words", () => {
  /**
   * Settles a path that has both lines in order. Returns the text that is kept; the candidates have the qualities
   * measured. Those of the first line have `count` words, and the later ones start at `second`.
   */
  function settle(said: string, count = 8, second = 8, script = SCRIPT) {
    const { words } = createRecordedWords(said).transcript!;
    const tokens = tokenize(words, "en");
    const lines = parseScript(script, "en");
    const candidate = (line: number, from: number, to: number, quality: number, accepted: boolean): LineCandidate => {
      const match = alignLineAt(line, lines[line]!, tokens, from, to);
      const window = { start: tokens[from]!.start, end: tokens[to - 1]!.end };
      return { ...match, window, alignment: null, similarity: match.score, quality, complete: accepted, accepted };
    };
    const candidates = [
      [candidate(0, 0, Math.min(count, second), 0.994, true), candidate(0, second, second + count, 0.895, true)],
      [candidate(1, 0, second, 0, false), candidate(1, second, second + 8, 0, false)],
    ];
    const found = alignLineAt(1, lines[1]!, tokens, second, second + 8).pairs;
    const all = Int32Array.from({ length: 16 }, (_, k) => (k < second ? k : k < 8 ? -1 : second + k - 8));
    const pairs = script === SCRIPT ? all : Int32Array.from([...all.subarray(0, 8), ...found]);
    const kept = Uint8Array.from(tokens, (_, j) => (j < second + 8 ? 1 : 0));
    const activity = { speechRegions: words, noiseRegions: [], clipping: [], duration: words.at(-1)!.end };
    const settled = settlePath(
      { pairs, kept },
      { words, tokens, lines, activity, lexicon: ENGLISH } as never,
      candidates,
    );
    return words.flatMap(({ text }, j) => (settled.kept[j] ? [text] : [])).join(" ");
  }

  test.each([
    ["a clearly recognized word differs", "stops 556 594 97"],
    ["a word of the second line is recognized", "stop 556 594 40"],
  ])("are both kept when %s", (_, word) => {
    const kept = settle(LOOK_ALIKES.replace("stop 556 594 97", word));
    expect(kept.split(" ").length).toBe(16);
  });

  test("are both kept when a swapped word of the second line is said", () => {
    const swapped = SCRIPT.replace("to stop the window", "to the stop machine");
    expect(settle(LOOK_ALIKES.replace("stop 556 594 97", "stop 556 594 40"), 8, 8, swapped).split(" ").length).toBe(16);
  });

  test.each([
    ["engine.", "Press the green button to start the machine. Press the green button to start the engine."],
    ["machine.", "Press the green button to start the machine."],
  ])("are told apart by the words after those that are found: %s", (last, kept) => {
    const again = LOOK_ALIKES.replace("stop 556", "start 556").replace("machine. 604", `${last} 604`);
    expect(settle(again, 7)).toBe(kept);
  });

  test.each([
    ["the same words are said again", "start 556 594 97", "Press the green button to start the machine."],
    ["the other word is not clear", "star 556 594 40", "Press the green button to star the machine."],
  ])("are one line when %s", (_, word, kept) => {
    expect(settle(LOOK_ALIKES.replace("stop 556 594 97", word))).toBe(kept);
  });

  test.each([
    ["runs on into the next sentence", "machine. 604 669 94 | The 669"],
    ["has one more word", "machine. 604 669 94 | carefully 669 730 97 | The 830"],
  ])("are one line when the retake %s", (_, next) => {
    const again = LOOK_ALIKES.replace("stop 556", "start 556").replace("machine. 604 669 94 | The 753", next);
    expect(settle(again)).toBe("Press the green button to start the machine.");
  });

  test("are one line when the first one is a false start", () => {
    const words = LOOK_ALIKES.replace("stop 556", "start 556").split(" | ");
    expect(settle([...words.slice(0, 4), ...words.slice(8)].join(" | "), 8, 4)).toBe(
      "Press the green button to start the machine.",
    );
  });

  test("marks the line with the wrong words in the plan", async () => {
    const analysis = createRecordedWords(LOOK_ALIKES);
    const plan = (await cutWithScript(analysis, `${SCRIPT}\nThe left lamp shows that the water is warm.`))!;
    expect(listKeptWords(analysis, plan)).toBe(analysis.transcript!.words.map(({ text }) => text).join(" "));
    expect(plan.segments.filter((one) => one.review === "differs from the script").length).toBe(1);
  });
});

test("a take does not extend over the next line where most of that is found, although it has wrong words", () => {
  const { words } = createRecording("each page has the wind / nobody had read them for a century").transcript!;
  const tokens = tokenize(words, "en");
  const lines = parseScript("Each page has the wind and river.\nSilver had read them for a.", "en");
  const matches = [alignLineAt(0, lines[0]!, tokens, 0, 5), alignLineAt(1, lines[1]!, tokens, 5, 12)];
  const window = { start: words[0]!.start, end: words[11]!.end };
  const wide = {
    ...matches[0]!,
    to: 12,
    window,
    alignment: null,
    similarity: 1,
    quality: 0.9,
    complete: true,
    accepted: true,
  };
  const pairs = Int32Array.from(matches.flatMap((match) => [...match.pairs]));
  const activity = { speechRegions: words, noiseRegions: [], duration: words.at(-1)!.end };
  const recording = { words, tokens, lines, activity, lexicon: ENGLISH } as never;
  const settled = settlePath({ pairs, kept: new Uint8Array(12).fill(1) }, recording, [[wide], []]);
  expect(settled.pairs).toEqual(pairs);
});

test("a line does not move over the next one where half of that is found, although it has wrong words", () => {
  const { words } = createRecording("row on until the light / my father said the sea is kind / row on until the light")
    .transcript!;
  const tokens = tokenize(words, "en");
  const settle = (next: string) => {
    const lines = parseScript(`Row on until the light.\n${next}`, "en");
    const matches = [alignLineAt(0, lines[0]!, tokens, 0, 5), alignLineAt(1, lines[1]!, tokens, 5, 12)];
    const pairs = Int32Array.from(matches.flatMap((match) => [...match.pairs]));
    const candidate = (from: number) => {
      const window = { start: tokens[from]!.start, end: tokens[from + 4]!.end };
      const match = alignLineAt(0, lines[0]!, tokens, from, from + 5);
      return {
        ...match,
        window,
        alignment: null,
        similarity: match.score,
        quality: 0.9,
        complete: true,
        accepted: true,
      };
    };
    const activity = { speechRegions: words, noiseRegions: [], duration: words.at(-1)!.end };
    const recording = { words, tokens, lines, activity, lexicon: ENGLISH } as never;
    const kept = Uint8Array.from(tokens, (_, j) => (j < 12 ? 1 : 0));
    return settlePath({ pairs, kept }, recording, [[candidate(0), candidate(12)], []]).pairs.slice(0, 5);
  };
  expect([...settle("My river said the is sea.")]).toEqual([0, 1, 2, 3, 4]);
  expect([...settle("Green river silver the paper table.")]).toEqual([12, 13, 14, 15, 16]);
});

test("each line is rated once, although no later line is accepted", () => {
  const count = 300;
  const letter = (n: number) => "abcdefghijklmnopqrstuvwxyz"[n % 26]!;
  const said = Array.from({ length: count }, (_, i) => `qu${letter(Math.floor(i / 26))}${letter(i)}`).join(" ");
  const { words } = createRecording(said).transcript!;
  const tokens = tokenize(words, "en");
  const lines = parseScript(tokens.map(({ normal }) => `River ${normal} green harbor.`).join("\n"), "en");
  let reads = 0;
  const rejected = (from: number) => ({
    ...{ from, to: from + 1, quality: 0, complete: false },
    get accepted() {
      reads++;
      return false;
    },
  });
  const candidates = lines.map((_, i) => [rejected(i)]) as unknown as LineCandidate[][];
  const pairs = Int32Array.from({ length: 4 * count }, (_, k) => (k % 4 === 1 ? (k - 1) / 4 : -1));
  const recording = { words, tokens, lines, lexicon: ENGLISH } as never;
  settlePath({ pairs, kept: new Uint8Array(count).fill(1) }, recording, candidates);
  expect(reads).toBeLessThanOrEqual(3 * count);
});

describe("lines that follow each other without a pause", () => {
  /** Settles a path that pairs the words of the lines with these tokens, in which all candidates are accepted. */
  function settle(said: string, script: string, pairs: readonly number[], ranges: readonly (readonly number[])[][]) {
    const { words } = createRecording(said).transcript!;
    const tokens = tokenize(words, "en");
    const lines = parseScript(script, "en");
    const candidates = ranges.map((row, line) =>
      row.map(([from, to, quality]): LineCandidate => {
        const match = { ...alignLineAt(line, lines[line]!, tokens, from!, to!), from: from!, to: to! };
        const window = { start: tokens[from!]!.start, end: tokens[to! - 1]!.end };
        const rated = { similarity: match.score, quality: quality!, complete: true, accepted: true };
        return { ...match, window, alignment: null, ...rated };
      }),
    );
    const activity = { speechRegions: words, noiseRegions: [], duration: words.at(-1)!.end };
    const recording = { words, tokens, lines, activity, lexicon: ENGLISH } as never;
    const kept = Uint8Array.from(tokens, (_, j) => (pairs.includes(j) ? 1 : 0));
    return [...settlePath({ pairs: Int32Array.from(pairs), kept }, recording, candidates).pairs];
  }
  const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

  const RESTARTED = "in the only sense which we / in the only sense which we are concerned";
  const CUES = "In the only sense\nwhich we are concerned.";

  test.each([
    ["as good as the false start", 0.98, range(6, 14)],
    ["much worse than the earlier take", 0.5, [...range(0, 4), ...range(10, 14)]],
  ])("stay in the retake if it is %s, although it extends over the next line", (_, quality, expected) => {
    const ranges = [
      [
        [0, 6, 1],
        [6, 12, quality],
      ],
      [[10, 14, 1]],
    ];
    expect(settle(RESTARTED, CUES, range(6, 14), ranges)).toEqual(expected);
  });

  test.each([
    ["if every word is found", "and", [0, 1, 5, 6, 7, 8, 9]],
    ["but not if a word is wrong", "but", [0, 1, -1, 3, 4, 8, 9]],
  ])("are divided between a take and a retake of the words after them, %s", (_, word, expected) => {
    const said = "roman letters and which grew / and which grew more slowly";
    const script = `Roman letters ${word} which grew\nmore slowly.`;
    expect(settle(said, script, [0, 1, 5, 6, 7, 8, 9], [[[0, 5, 1]], [[8, 10, 1]]])).toEqual(expected);
  });

  test.each([
    ["goes on with words of the second", "thirty years / thirty years in spring", [0, 1]],
    ["ends", "thirty years / thirty years / in spring", [2, 3]],
  ])("stay apart if the phrase of the later take %s", (_, said, expected) => {
    const script = "Thirty years.\nThirty years yellow spring.";
    const both = [
      [0, 2, 0.9],
      [2, 4, 1],
    ];
    expect(settle(said, script, [0, 1, 2, 3, -1, 5], [both, []]).slice(0, 2)).toEqual(expected);
  });
});
