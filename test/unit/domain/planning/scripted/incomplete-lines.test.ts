import { describe, expect, test } from "bun:test";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import { completeLines } from "../../../../../src/domain/planning/scripted/misaligned-lines";
import type { ScriptedRecording } from "../../../../../src/domain/planning/scripted/script-lines";
import { parseScript } from "../../../../../src/domain/planning/scripted/script-lines";
import { tokenize } from "../../../../../src/domain/planning/tokens";
import { createRecordedWords, runWithAlignments } from "./spoken-recording";

// Words as they were recognized in noise at 10 dB, and in a paraphrase, with their times and confidences.
const FALSE_START = "you 624 654 75 | can 654 671 98 | butter 671 707 64 | with 707 725 39";
const TAKE =
  "you 796 823 51 | cant 823 846 47 | gotta 846 880 23 | object 896 915 25 | in 915 930 52 | bits 930 958 21 | with 958 986 99 | one 986 1010 99 | part 1015 1032 65";
const REMARK =
  "its 1126 1134 65 | not 1134 1153 92 | it 1153 1175 33 | thats 1179 1212 72 | not 1212 1229 55 | the 1229 1245 50 | reason 1245 1273 18 | now 1273 1300 63";
const NEXT = "the 1696 1705 79 | ship 1705 1740 68";
const BORROWED = "You can borrow kitchen to ten garden with one card.";

const OPENING = "sensors 918 964 76 | in 964 980 99 | the 980 988 99 | soil 988 1030 99";
const BEDS =
  "when 1252 1274 99 | one 1274 1291 99 | of 1291 1303 99 | the 1303 1315 99 | bedless 1315 1361 57 | two 1361 1381 43 | dry 1381 1412 61";
const VALVE =
  "then 1433 1450 91 | of 1450 1462 65 | allopins 1462 1530 49 | for 1536 1553 92 | thirty 1553 1594 97 | seconds 1594 1650 69";

/**
 * Completes the lines of a path, in which `pairs` has the token of each word of the script. Returns the words that are
 * kept.
 */
function complete(said: readonly string[], script: string, pairs: number[], { logProb = -9, repeated = [0, 0] } = {}) {
  const { transcript, duration } = createRecordedWords(said.join(" | "));
  const { words } = transcript!;
  const tokens = tokenize(words, "en");
  const lines = parseScript(script, "en");
  const activity = { speechRegions: words, noiseRegions: [], clipping: [], duration };
  const recording = { words, tokens, lines, activity, lexicon: ENGLISH } as unknown as ScriptedRecording;
  const kept = Uint8Array.from(tokens, (_, j) => (pairs.includes(j) ? 1 : 0));
  const path = { pairs: Int32Array.from(pairs), kept, differing: new Uint8Array(tokens.length) };
  const isRepeated = new Uint8Array(tokens.length).fill(1, repeated[0], repeated[1]);
  const completed = runWithAlignments(completeLines(path, recording, isRepeated), logProb);
  const list = (marks: Uint8Array) =>
    tokens
      .filter((_, j) => marks[j])
      .map(({ normal }) => normal)
      .join(" ");
  return { kept: list(completed.kept), differing: list(completed.differing) };
}

describe("an incomplete line that aligns nowhere", () => {
  const opening = "dinner 496 530 87";
  const script = `Dinner.\n${BORROWED}\nThe ship.`;
  const pairs = [0, 1, 2, 3, -1, -1, -1, -1, 4, -1, -1];

  test("is completed with what follows it, but not with more than its length", () => {
    const { kept, differing } = complete([opening, FALSE_START, TAKE, REMARK, NEXT], script, [...pairs, 22, 23]);
    expect(differing).toBe("you cant gotta object in bits with one part");
    expect(kept).toBe(`dinner you can butter with ${differing} the ship`);
  });

  test("is completed with what precedes it when what follows is said again", () => {
    const { kept } = complete(
      [OPENING, BEDS, VALVE, "the 1760 1768 99 | gardener 1768 1821 48 | only 1821 1851 99", "the 1942 1951 99"],
      "Sensors in the soil.\nWhen a people gets too window, a valve opens for half a minute.\nThe.",
      [0, 1, 2, 3, 11, -1, -1, -1, -1, -1, -1, 12, 13, 14, 15, 16, -1, 20],
      { repeated: [17, 20] },
    );
    expect(kept).toBe("sensors in the soil when one of the bedless two dry then of allopins for thirty seconds the");
  });

  test.each([
    ["a line that aligns", [opening, FALSE_START, TAKE, NEXT], pairs, -0.3, [14, 15]],
    ["the last line", [opening, FALSE_START, TAKE], pairs, -9, [-1, -1]],
  ])("is not confused with %s", (_, said, own, logProb, last) => {
    expect(complete(said, script, [...own, ...last], { logProb }).differing).toBe("");
  });

  test("is not completed with a remark on the recording", () => {
    const remark =
      "sorry 796 830 95 | let 830 846 97 | me 846 860 98 | say 860 880 99 | that 880 900 99 | again 900 940 98";
    expect(complete([opening, FALSE_START, remark, NEXT], script, [...pairs, 11, 12]).differing).toBe("");
  });
});
