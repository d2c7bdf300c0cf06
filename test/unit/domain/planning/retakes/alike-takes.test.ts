import { describe, expect, test } from "bun:test";
import type { PlanSteps } from "../../../../../src/domain/planning/context";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import { type AlikeTakes, findAlikeTakes } from "../../../../../src/domain/planning/retakes/alike-takes";
import { findRetakes } from "../../../../../src/domain/planning/retakes/find-retakes";
import { mergeSpans } from "../../../../../src/domain/planning/spans";
import { tokenize } from "../../../../../src/domain/planning/tokens";
import type { AudioMatch, AudioPair } from "../../../../../src/domain/speech";
import { fromSeconds } from "../../../../../src/domain/time";
import { runWithoutAlignment } from "../run-without-alignment";
import { spoken } from "./spoken";

const ALIKE = { distance: 0.3, worst: 0.4 };
const UNLIKE = { distance: 0.7, worst: 0.9 };

/** Runs the comparison of a transcript. Words in parentheses were not understood, and are not in it. */
function run(text: string, match: Omit<AudioMatch, "duration">, pitches: [number, number] = [120, 120]) {
  const all = spoken(text);
  const isLost = ({ text: word }: { text: string }) => word.startsWith("(");
  const words = all.filter((word) => !isLost(word));
  const speechRegions = mergeSpans(all);
  const duration = all.at(-1)!.end;
  const energy = new Float32Array(duration / 5_000).fill(-20);
  const activity = { duration, energy, contrast: 50, speechRegions, noiseRegions: [] };
  const tokens = tokenize(words, "en");
  const asked: AudioPair[] = [];
  const alike = answer(findAlikeTakes(words, tokens, activity, ENGLISH), match, pitches, asked);
  const { retakes } = runWithoutAlignment(
    findRetakes(words, tokens, ENGLISH, { found: alike.found, different: [] }, "ignore"),
  );
  const removed = retakes.map(({ from, to, match: { rule } }) => {
    const taken = words.slice(from, to).map((word) => word.text);
    return `${rule}: ${taken.join(" ")}`;
  });
  const stretches = alike.stretches.map(({ start, end, match: { rule } }) => {
    const taken = all.filter((word) => word.start >= start && word.end <= end).map((word) => word.text);
    return `${rule}: ${taken.join(" ")}`;
  });
  return { asked: asked.length, removed, stretches };
}

function answer(
  steps: PlanSteps<AlikeTakes>,
  match: Omit<AudioMatch, "duration">,
  pitches: [number, number],
  asked: AudioPair[],
): AlikeTakes {
  let step = steps.next();
  while (!step.done) {
    const query = step.value;
    if (query?.kind === "compare_audio") {
      asked.push(...query.requests);
      const results = query.requests.map(({ take }) => ({ ...match, duration: take.end - take.start }));
      step = steps.next({ kind: "compare_audio", results });
    } else {
      const results = pitches.map((pitch, i) => ({ pitch, level: -20 - 10 * i, voiced: fromSeconds(0.5) }));
      step = steps.next({ kind: "measure_voice", results });
    }
  }
  return step.value;
}

describe("sounds alike", () => {
  test("a take that was recognized as other words goes when it sounds like the next phrase", () => {
    const text = "?but the ?juice is in ?it / cut the pumpkin into quarters and take out the seeds.";
    expect(run(text, ALIKE).removed).toEqual(["false_start.prefix: but the juice is in it"]);
    expect(run(text, UNLIKE).removed).toEqual([]);
  });

  test("phrases that were recognized clearly are not compared, nor short ones", () => {
    expect(run("press the green button / turn the red wheel twice.", ALIKE).asked).toBe(0);
    expect(run("?hm / turn the red wheel twice.", ALIKE).asked).toBe(0);
  });

  test("another clear word makes another sentence", () => {
    const text = "?press the button to start the machine / press the button to stop the machine.";
    expect(run(text, ALIKE).removed).toEqual([]);
  });

  test("one other sound makes another sentence, unless the take is announced to be said again", () => {
    const match = { distance: 0.4, worst: 0.8 };
    expect(run("?where was ?it for forty minutes / roast it for forty minutes.", match).removed).toEqual([]);
    const announced = "?where was ?it for forty minutes / sorry again / roast it for forty minutes.";
    expect(run(announced, match).removed).toContain("retake.after_remark: where was it for forty minutes");
  });

  test("a take that was not understood goes before one that was, and the other way around after a remark", () => {
    expect(run("(we (hope (to / we hope to see you soon.", ALIKE).stretches).toEqual([
      "false_start.prefix: (we (hope (to",
    ]);
    expect(run("late books cost / one more time / (late (books (cost.", ALIKE).stretches).toContain(
      "retake.after_remark: late books cost",
    );
  });

  test("two stretches that were not understood stay, as songs and other languages do, unless a remark is between them", () => {
    expect(run("(la (la (la / (la (la (la", ALIKE)).toMatchObject({ asked: 0, stretches: [] });
    expect(run("(late (books (cost / one more time / (late (books (cost.", ALIKE).stretches).toContain(
      "retake.after_remark: (late (books (cost",
    );
  });

  test("a listener who repeats what was not understood stays", () => {
    expect(run("(we (hope (to / we hope to see you soon.", ALIKE, [100, 200]).stretches).toEqual([]);
  });

  test("a stutter of two words is found by its sounds, with a short pause", () => {
    expect(run("place that / placed the camera on a table.", ALIKE).removed).toEqual([
      "false_start.prefix: place that",
    ]);
    expect(run("place that / placed the camera on a table.", UNLIKE).removed).toEqual([]);
  });
});
