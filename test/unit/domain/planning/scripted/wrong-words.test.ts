import { describe, expect, test } from "bun:test";
import { detectActivity } from "../../../../../src/domain/planning/audio-activity";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import {
  checkMatches,
  isSpokenLine,
  withoutWrongWords,
} from "../../../../../src/domain/planning/scripted/line-candidates";
import { alignLineAt } from "../../../../../src/domain/planning/scripted/match-lines";
import { parseScript } from "../../../../../src/domain/planning/scripted/script-lines";
import { tokenize } from "../../../../../src/domain/planning/tokens";
import { createRecording } from "./spoken-recording";

describe("words of the script that align in no take of their line", () => {
  const said = "today we hang a wooden shelf above the bench";
  const [yes, no] = [-0.2, -8];

  /** Rates a take of the line for each row of log probabilities, those of the line's words in that take. */
  function rate(logProbs: readonly number[][], script = "Today seven hang a river shelf green the bench.") {
    const analysis = createRecording(logProbs.map(() => said).join(" / "));
    const { words } = analysis.transcript!;
    const tokens = tokenize(words, "en");
    const lines = parseScript(script, "en");
    const recording = { words, tokens, lines, activity: detectActivity(analysis), lexicon: ENGLISH };
    const count = said.split(" ").length;
    const matches = logProbs.map((_, n) => alignLineAt(0, lines[0]!, tokens, n * count, (n + 1) * count));
    const steps = checkMatches([matches], recording);
    let step = steps.next(null);
    while (!step.done) {
      if (step.value?.kind !== "align") throw new Error("Unexpected query.");
      const results = step.value.requests.map(({ window, text }) => {
        const take = words.filter((word) => word.end <= (window.start + window.end) / 2).length / count;
        const own = text.split(" ").map((word, k) => ({
          ...{ text: word, start: window.start, end: window.end, confidence: 0.9 },
          logProb: logProbs[Math.floor(take)]![k]!,
        }));
        const meanLogProb = own.reduce((sum, { logProb }) => sum + logProb, 0) / own.length;
        return { words: own, meanLogProb, tailLogProb: own.at(-1)!.logProb };
      });
      step = steps.next({ kind: "align", results });
    }
    return step.value[0]!;
  }

  test("decide neither whether the line is spoken nor which take is better", () => {
    const [first, second] = rate([
      [yes, -4, yes, yes, -4, yes, -4, yes, yes],
      [yes, no, yes, yes, no, yes, no, yes, yes],
    ]);
    expect([first!.accepted, second!.accepted]).toEqual([true, true]);
    expect(second!.quality).toBeCloseTo(first!.quality);
  });

  test("are those of the line: a take that lacks words of another take is not one", () => {
    const [partial, whole] = rate([
      [yes, no, yes, yes, no, no, no, no, no],
      [yes, no, yes, yes, no, yes, no, yes, yes],
    ]);
    expect([partial!.accepted, whole!.accepted]).toEqual([false, true]);
  });

  test("do not make a retake with the same words worse", () => {
    const [first, second] = rate([
      [yes, no, yes, yes, no, yes, no, yes, yes],
      [yes, no, -7, -7, no, yes, no, yes, yes],
    ]);
    expect([first!.accepted, second!.accepted]).toEqual([true, true]);
    expect(second!.quality).toBe(first!.quality);
  });

  test("do not exist if the text of a take is that of the line", () => {
    const [first, second] = rate(
      [
        [yes, no, yes, yes, no, yes, no, yes, yes],
        [yes, no, -7, -7, no, yes, no, yes, yes],
      ],
      `${said}.`,
    );
    expect(first!.score).toBe(1);
    expect(second!.quality).toBeLessThan(first!.quality);
  });

  test("are not the end of a take that was broken off", () => {
    expect(rate([[yes, yes, yes, yes, yes, yes, no, no, no]])[0]!.accepted).toBe(false);
  });

  test("are unknown when takes were aligned with different readings of the line", () => {
    const align = (text: string, logProbs: readonly number[]) => ({
      words: text.split(" ").map((word, k) => {
        return { text: word, start: k, end: k + 1, confidence: 0.9, logProb: logProbs[k]! };
      }),
      meanLogProb: -3,
      tailLogProb: logProbs.at(-1)!,
    });
    const partial = align("cut it eleven to kg", [yes, yes, no, yes, yes]);
    expect(withoutWrongWords(partial, [partial]).words.map((word) => word.text)).toEqual(["cut", "it", "to", "kg"]);
    const whole = align("cut it eleven to kilograms", [yes, yes, yes, yes, yes]);
    expect(withoutWrongWords(partial, [partial, whole])).toBe(partial);
    expect(withoutWrongWords(partial, [partial, align("cut it 11 to", [yes, yes, yes, yes])])).toBe(partial);
  });

  test("do not make another sentence a take", () => {
    expect(rate([[yes, no, no, no, no, no, no, yes, yes]])[0]!.accepted).toBe(false);
  });
});

test.each([
  [14, 2, 4],
  [28, 4, 5],
])("a line of %i words is spoken in a take that drops %i, and not in one that drops %i", (count, few, many) => {
  const align = (dropped: number) => {
    const words = Array.from({ length: count }, (_, k) => {
      const logProb = k % 3 === 1 && k < 3 * dropped ? -6.1 : -0.1;
      return { text: "word", start: 300_000 * k, end: 300_000 * (k + 1), confidence: 0.9, logProb };
    });
    const meanLogProb = words.reduce((sum, { logProb }) => sum + logProb, 0) / words.length;
    return { words, meanLogProb, tailLogProb: -0.1 };
  };
  expect(isSpokenLine(align(few))).toBe(true);
  expect(isSpokenLine(align(many))).toBe(false);
});
