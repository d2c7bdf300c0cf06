import { describe, expect, test } from "bun:test";
import type { PlanSteps } from "../../../../../src/domain/planning/context";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import { findRetakes } from "../../../../../src/domain/planning/retakes/find-retakes";
import { type EarlierTake, findEarlierTakes } from "../../../../../src/domain/planning/retakes/takes-by-line";
import type { ConfirmedTake } from "../../../../../src/domain/planning/scripted/confirm-takes";
import type { LineCandidate } from "../../../../../src/domain/planning/scripted/line-candidates";
import { moveToRetakes } from "../../../../../src/domain/planning/scripted/misaligned-lines";
import { addOutOfOrder, addParaphrases } from "../../../../../src/domain/planning/scripted/missing-lines";
import { SCRIPTED_STAGES } from "../../../../../src/domain/planning/scripted/plan-scripted";
import { rescueLines } from "../../../../../src/domain/planning/scripted/rescue-lines";
import type { ScriptedRecording } from "../../../../../src/domain/planning/scripted/script-lines";
import { parseScript } from "../../../../../src/domain/planning/scripted/script-lines";
import { mergeSpans } from "../../../../../src/domain/planning/spans";
import { tokenize } from "../../../../../src/domain/planning/tokens";
import type { SpeechAnalysis } from "../../../../../src/domain/speech";
import { runWithoutAlignment } from "../run-without-alignment";
import {
  createRecordedWords,
  createRecording,
  cutWithScript,
  listKeptWords,
  record,
  runWithAlignments,
} from "./spoken-recording";

// Words as they were recognized in recordings, with their times and confidences.
const ARCHITECT =
  "The 2168 2180 55 | architect 2180 2251 54 | never 2251 2284 100 | saw 2284 2313 99 | the 2313 2328 100 | finished 2328 2369 65 | art. 2369 2388 74 | No, 2485 2524 76 | again. 2524 2587 73 | With 2673 2686 78 | the 2686 2696 97 | architect 2696 2751 54 | never 2751 2783 95 | saw 2783 2809 99 | the 2809 2823 100 | finished 2823 2863 69 | arch. 2863 2893 79";
async function cut(analysis: SpeechAnalysis, script: string) {
  const plan = (await cutWithScript(analysis, script))!;
  return { kept: listKeptWords(analysis, plan), plan };
}

describe("a line with wrong words that is said again", () => {
  test("keeps the last take, and names the rule that found the other one", async () => {
    const before = "They 1730 1749 99 | slept 1749 1794 84 | in 1794 1816 75 | tents. 1816 1854 96";
    const after = "Today 3000 3040 97 | it 3040 3055 99 | carries 3055 3100 99 | cars. 3100 3150 99";
    const { kept, plan } = await cut(
      createRecordedWords([before, ARCHITECT, after].join(" | ")),
      "They slept in tents.\nThe architect never green the river art.\nToday it carries cars.",
    );
    expect(kept).toBe("They slept in tents. With the architect never saw the finished arch. Today it carries cars.");
    const [removed] = plan.removed.filter((span) => span.reason === "retake");
    expect([removed!.rule, removed!.text]).toEqual([
      "retake.after_remark",
      "The architect never saw the finished art.",
    ]);
    expect(plan.segments.some((segment) => segment.review === "differs from the script")).toBe(true);
  });

  test("keeps all of the words of two lines that were said again together", async () => {
    const pair = "the quiet harbor wakes before sunrise / gulls follow every boat home";
    const { kept } = await cut(
      createRecording(`we filmed this on monday / ${pair} / ${pair} / thank you all for watching`),
      "We filmed this on Monday.\nThe river harbor carefully before green.\nGulls market every silver letter.\nThank you all for watching.",
    );
    expect(kept).toBe(`we filmed this on monday ${pair.replace(" /", "")} thank you all for watching`);
  });
});

test.each([
  [0.3, ["but the juice is in it"]],
  [0.7, []],
])("a take recognized as other words is known by its audio (distance %p)", (distance, expected) => {
  const { duration, energy, speech, transcript } = createRecording(
    "but the juice is in it / cut the pumpkin into quarters now",
  );
  const words = transcript!.words.map((word) => ({ ...word, confidence: 0.4 }));
  const tokens = tokenize(words, "en");
  const activity = { duration, energy, contrast: 50, speechRegions: mergeSpans(speech), noiseRegions: [] };
  const recording = { words, tokens, activity, lines: [], lexicon: ENGLISH };
  const stage = SCRIPTED_STAGES.find(({ name }) => name === "retakes")!;
  const match = { distance, worst: distance, duration: 1_000_000 };
  const steps = stage.run({ recording } as never) as PlanSteps<{ earlierTakes: EarlierTake[] }>;
  const { earlierTakes } = runWithAlignments(steps, -9, match);
  expect(
    earlierTakes.map(({ from, to }) =>
      tokens
        .slice(from, to)
        .map(({ normal }) => normal)
        .join(" "),
    ),
  ).toEqual(expected);
});

test("phrases without words are not compared with a script", () => {
  const { duration, energy, transcript } = createRecording("hm hm hm / cut the pumpkin into quarters now");
  const words = transcript!.words.slice(3);
  const activity = {
    duration,
    energy,
    contrast: 50,
    speechRegions: mergeSpans(transcript!.words),
    noiseRegions: [],
  };
  const recording = { words, tokens: tokenize(words, "en"), activity, lines: [], lexicon: ENGLISH };
  const stage = SCRIPTED_STAGES.find(({ name }) => name === "retakes")!;
  const steps = stage.run({ recording } as never) as PlanSteps<unknown>;
  expect(steps.next(null).done).toBe(true);
});

describe("moving a line to its retake", () => {
  /** Moves the only line of a script, which the path has in the first take. */
  const move = (
    said: string,
    line: string,
    logProb: number,
    count?: number,
    change = (takes: EarlierTake[]) => takes,
  ) => {
    const { transcript, duration } = createRecordedWords(said);
    const { words } = transcript!;
    const tokens = tokenize(words, "en");
    const lines = parseScript(line, "en");
    const pairs = Int32Array.from(lines[0]!.words, (_, k) => (k < (count ?? k + 1) ? k : -1));
    const kept = Uint8Array.from(tokens, (_, j) => (pairs.includes(j) ? 1 : 0));
    const activity = { speechRegions: words, noiseRegions: [], clipping: [], duration };
    const earlierTakes = findEarlierTakes(
      words,
      tokens,
      runWithoutAlignment(findRetakes(words, tokens, ENGLISH)).retakes,
    ).takes;
    const recording = { words, tokens, lines, activity, lexicon: ENGLISH } as unknown as ScriptedRecording;
    const steps = moveToRetakes({ pairs, kept }, [[]], change(earlierTakes), recording);
    const { path, retaken } = runWithAlignments(steps, logProb);
    return { said: tokens.filter((_, j) => path.kept[j]).map(({ normal }) => normal), retaken };
  };
  const line = "The architect never saw the silver arch.";

  test("keeps the last take when the line does not align", () => {
    const { said, retaken } = move(ARCHITECT, line, -9);
    expect(said.join(" ")).toBe("with the architect never saw the finished arch");
    expect(retaken.map((take) => take.match.rule)).toEqual(["retake.after_remark"]);
  });

  test("counts two takes that follow each other as one", () => {
    const twice = "The 2000 2020 90 | architect 2020 2090 90 | The 2150 2170 90 | architect 2170 2240 90";
    const { said } = move(`${twice} | ${ARCHITECT.split(" | ").slice(10).join(" | ")}`, "The door the architect.", -9);
    expect(said.join(" ")).toBe("the architect never saw the finished");
  });

  test.each([
    [2, "they slept with the architect never saw the finished arch"],
    [3, "they all slept the architect never saw the finished art"],
  ])("leaves %p words of the line before, and no more", (count, expected) => {
    const before = ["They 1900 1920 90", "all 1920 1940 90", "slept 1940 1990 90"];
    const own = count === 2 ? [before[0], before[2]] : before;
    const script = `${"So ".repeat(count)}the architect never saw the silver arch.`;
    expect(move([...own, ARCHITECT].join(" | "), script, -9).said.join(" ")).toBe(expected);
  });

  test.each([
    ["Winter 2430 2450 95 | came. 2450 2470 95", "winter came with the architect never saw the finished arch"],
    ["Winter 2420 2435 95 | came 2435 2450 95 | early. 2450 2470 95", null],
  ])("leaves two words after the line, and no more: %p", (after, expected) => {
    const words = ARCHITECT.split(" | ");
    const own = after.split(" | ");
    const script = `The architect never saw the silver arch${" so".repeat(own.length)}.`;
    const all = [...words.slice(0, 7), ...own, ...words.slice(7)].join(" | ");
    const takes = [{ from: 0, to: 7, retakeStart: 9 + own.length, match: {} as never }];
    const { said } = move(all, script, -9, undefined, () => takes);
    const spoken = own.map((word) => word.split(" ")[0]!.replace(".", "").toLowerCase()).join(" ");
    expect(said.join(" ")).toBe(expected ?? `the architect never saw the finished art ${spoken}`);
  });

  test("leaves a line with a word in its middle that is not said again", () => {
    const { said } = move(ARCHITECT, line, -9, undefined, (takes) => [
      { ...takes[0]!, to: 3 },
      { ...takes[0]!, from: 4 },
    ]);
    expect(said.join(" ")).toBe("the architect never saw the finished art");
  });

  test("leaves a line that aligns", () => {
    const { said, retaken } = move(ARCHITECT, line, -0.2);
    expect(said.join(" ")).toBe("the architect never saw the finished art");
    expect(retaken).toEqual([]);
  });

  test("leaves a line that surely resembles its take, and not what follows", () => {
    const garbled = ARCHITECT.replace("saw 2783", "thaw 2783").replace("arch. 2863", "march 2863");
    expect(move(garbled.replace("never 2751", "weather 2751"), "The architect never saw the art.", -9).retaken).toEqual(
      [],
    );
  });
});

test.each([
  ["up to the next line", [], true, [3, 6]],
  ["up to the next candidate of another line", [[1, 6]], true, [3]],
  ["not before its own last candidate", [[0, 3]], true, [6]],
  ["to the end without a later line", [], false, [3, 6, 9]],
])("a line may be repeated after its take, %s", (_, others, isNextFound, expected) => {
  const { words, tokens, lines, activity } = record(
    "gulls follow boats / bulls swallow votes / dulls hollow coats / winter came early",
    "Gulls follow boats.\nWinter came early.\nThe harbor froze.",
  );
  const candidate = (line: number, from: number) => {
    const pairs = Int32Array.of(from, from + 1, from + 2);
    return { line, from, to: from + 3, pairs, accepted: true, alignment: null } as unknown as LineCandidate;
  };
  const own = [candidate(0, 0)];
  const all = others.map(([line, from]) => candidate(line!, from!));
  const rows = lines.map((_, line) => [...(line === 0 ? own : []), ...all.filter((one) => one.line === line)]);
  const takes = [own[0]!, isNextFound ? candidate(1, 9) : null, null];
  const recording = { words, tokens, lines, activity, lexicon: ENGLISH };
  const starts = new Set<number>();
  runWithAlignments(rescueLines(takes as never, rows, recording), ({ window, text }) => {
    if (text.startsWith("Gulls")) starts.add(tokens.findIndex((token) => token.start >= window.start));
    return { words: [{ text, ...window, confidence: 0, logProb: -9 }], meanLogProb: -9, tailLogProb: -9 };
  });
  expect([...starts]).toEqual(expected);
});

test.each([
  [0.81, 10],
  [0.79, 0],
])("the last take out of order is kept unless it is worse by 0.1 than one of 0.9: %p", (quality, from) => {
  const candidate = (start: number, own: number) =>
    ({ line: 0, from: start, to: start + 6, complete: true, quality: own, alignment: null }) as LineCandidate;
  const takes: (ConfirmedTake | null)[] = [null];
  addOutOfOrder(
    takes,
    [[candidate(0, 0.9), candidate(10, quality)]],
    [],
    parseScript("They slept in their old tents."),
    [],
  );
  expect(takes[0]!.from).toBe(from);
});

test("a line is not out of order when most of its best take is where the path has it", () => {
  const lines = parseScript("They slept in their old tents.", "en");
  const candidate = { line: 0, from: 4, to: 9, complete: true, quality: 0.9, alignment: null } as LineCandidate;
  const add = (from: number, to: number) => {
    const takes: (ConfirmedTake | null)[] = [null];
    const onPath = { line: 0, from, to } as ConfirmedTake;
    return [addOutOfOrder(takes, [[candidate]], [], lines, [onPath]), takes[0]!.from, takes[0]!.to];
  };
  expect(add(2, 11)).toEqual([[], 2, 11]);
  expect(add(6, 11)).toEqual([[], 6, 11]);
  expect(add(7, 11)).toEqual([[0], 4, 9]);
  expect(add(9, 11)).toEqual([[0], 4, 9]);
});

test("a take that was left for its retake does not come back as a line out of order", () => {
  const lines = parseScript("The architect never saw the silver arch.", "en");
  const candidate = { line: 0, from: 2, to: 9, complete: true, quality: 0.6, alignment: null } as LineCandidate;
  const add = (retaken: { from: number; to: number }[]) => addOutOfOrder([null], [[candidate]], retaken, lines, []);
  expect(add([{ from: 4, to: 9 }])).toEqual([]);
  expect(add([{ from: 9, to: 12 }])).toEqual([0]);
});

/** Adds paraphrases to a script of one line. Returns the tokens of its take. */
function paraphrase(said: string, script: string, repeatedCount = 0, repeatedFrom = 0) {
  const { transcript, duration } = createRecording(said);
  const { words } = transcript!;
  const tokens = tokenize(words, "en");
  const lines = parseScript(script, "en");
  const activity = { speechRegions: words, noiseRegions: [], clipping: [], duration };
  const recording = { words, tokens, lines, activity, lexicon: ENGLISH } as unknown as ScriptedRecording;
  const takes: (ConfirmedTake | null)[] = [null];
  addParaphrases(
    takes,
    [],
    [],
    recording,
    new Uint8Array(tokens.length).fill(1, repeatedFrom, repeatedFrom + repeatedCount),
    false,
  );
  return takes[0] && [takes[0].from, takes[0].to];
}

test("a false start does not count as part of the paraphrase after it", () => {
  const said = "before the storm we before the storm we moved the boats into the inner harbour";
  const script = "Green boats went to inner harbour early river.";
  expect(paraphrase(said, script, 4)).toEqual([4, 15]);
  expect(paraphrase(said, script)).toBeNull();
});

test("a stutter does not divide a paraphrase", () => {
  const said = "before the storm we moved the the boats into the inner harbour";
  expect(paraphrase(said, "Green boats went to inner harbour early river.", 1, 5)).toEqual([0, 12]);
});

test("a paraphrase has two fifths of the words of its line or more", () => {
  const script = "The harbour market and a river are on its way to us so we go in by it now.";
  expect(paraphrase("harbour market river we saw it at last", script)).toEqual([0, 8]);
  expect(paraphrase("harbour market river we saw it again", script)).toBeNull();
});
