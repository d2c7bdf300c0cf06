import { describe, expect, test } from "bun:test";
import type { PlanSteps } from "../../../../../src/domain/planning/context";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import {
  decideByStretch,
  decideByStretches,
  findAlikeTakes,
  findUnclearTakes,
} from "../../../../../src/domain/planning/retakes/alike-takes";
import { findRetakes } from "../../../../../src/domain/planning/retakes/find-retakes";
import type { RepetitionScores, RuleMatch } from "../../../../../src/domain/planning/rules";
import { mergeSpans } from "../../../../../src/domain/planning/spans";
import { tokenize } from "../../../../../src/domain/planning/tokens";
import { type AudioMatch, type AudioPair, ENERGY_HOP, type Word } from "../../../../../src/domain/speech";
import { fromSeconds, type Span } from "../../../../../src/domain/time";
import { runWithoutAlignment } from "../run-without-alignment";
import { spoken } from "./spoken";

const ALIKE = { distance: 0.3, worst: 0.4 };
const UNLIKE = { distance: 0.7, worst: 0.9 };

type Answers = {
  match: Omit<AudioMatch, "duration">;
  /** Comparisons of neighbors. */
  neighbors?: Omit<AudioMatch, "duration">;
  pitches?: [number, number];
};

/**
 * Plans the retakes of a transcript. Words in parentheses were not understood, and are not in it. `_word` is 18 dB
 * quieter than the others.
 */
function run(text: string, answers: Answers) {
  const all = spoken(text).map((word) => ({
    ...word,
    text: word.text.replace("_", ""),
    isQuiet: /^_/.test(word.text),
  }));
  const isLost = ({ text: word }: { text: string }) => word.startsWith("(");
  const words: Word[] = all.filter((word) => !isLost(word)).map(({ isQuiet: _, ...word }) => word);
  const duration = all.at(-1)!.end;
  const energy = new Float32Array(duration / ENERGY_HOP).fill(-20);
  for (const { start, end, isQuiet } of all) if (isQuiet) energy.fill(-38, start / ENERGY_HOP, end / ENERGY_HOP);
  const activity = { duration, energy, contrast: 50, speechRegions: mergeSpans(all), noiseRegions: [] };
  const tokens = tokenize(words, "en");
  const asked: AudioPair[] = [];
  const measured: Span[] = [];
  const found = answer(findAlikeTakes(words, tokens, activity, ENGLISH), answers, asked, measured);
  const unclear = answer(findUnclearTakes(words, tokens, activity, ENGLISH), answers, asked, measured);
  const { retakes, possible } = runWithoutAlignment(
    findRetakes(words, tokens, ENGLISH, { found, different: [] }, "ignore"),
  );
  const describe = ({ from, to, match }: { from: number; to: number; match: RuleMatch }) => {
    const taken = words.slice(from, to).map((word) => word.text);
    return `${match.rule}: ${taken.join(" ")}`;
  };
  const describeStretch = (rule: string, { start, end }: Span) => {
    const taken = all.filter((word) => word.start >= start && word.end <= end).map((word) => word.text);
    return `${rule}: ${taken.join(" ")}`;
  };
  return {
    asked,
    measured,
    scores: [...retakes, ...possible].map(({ match }) => match.scores as RepetitionScores),
    removed: retakes.map(describe),
    marked: [
      ...possible.map(describe),
      ...unclear.flatMap((one) => one.reviews.map(({ rule }) => describeStretch(rule, one))),
    ],
    stretches: unclear.flatMap((one) => (one.removal ? [describeStretch(one.removal.rule, one)] : [])),
  };
}

function answer<Result>(
  steps: PlanSteps<Result>,
  { match, neighbors = UNLIKE, pitches = [120, 120] }: Answers,
  asked: AudioPair[],
  measured: Span[],
): Result {
  let step = steps.next();
  let given = match;
  while (!step.done) {
    const query = step.value;
    if (query?.kind === "compare_audio") {
      asked.push(...query.requests);
      const results = query.requests.map(({ take }) => ({ ...given, duration: take.end - take.start }));
      given = neighbors;
      step = steps.next({ kind: "compare_audio", results });
    } else {
      measured.push(...(query?.kind === "measure_voice" ? query.requests : []));
      const results = pitches.map((pitch, i) => ({ pitch, level: -20 - 10 * i, voiced: fromSeconds(0.5) }));
      step = steps.next({ kind: "measure_voice", results });
    }
  }
  return step.value;
}

describe("takes that sound like what follows", () => {
  test("a take that was recognized as other words is removed, as sure as the audio is", () => {
    const text = "?but the ?juice is in ?it / cut the pumpkin into quarters and take out the seeds.";
    const { removed, scores } = run(text, { match: ALIKE });
    expect(removed).toEqual(["false_start.prefix: but the juice is in it"]);
    expect(scores[0]!.similarity).toBeCloseTo(0.7);
    expect(run(text, { match: UNLIKE }).removed).toEqual([]);
  });

  test("phrases that were recognized clearly are not compared, nor short ones", () => {
    const countAsked = (text: string) => run(text, { match: ALIKE }).asked.length;
    expect(countAsked("press the green button / turn the red wheel twice.")).toBe(0);
    expect(countAsked("?hm / turn the red wheel twice.")).toBe(0);
    // Only the loud part is compared.
    expect(countAsked("?hm _and _now _we _stop / turn the red wheel twice.")).toBe(0);
  });

  test.each([
    ["put ?the lid on it _then _lower _the _heat _slowly / put the lid on and screw it tight."],
    ["?but ?a ?lit ?only _then _lower _the _heat _slowly / put the lid on and screw it tight."],
  ])("quieter words that were not compared stay: %s", (text) => {
    const { removed, stretches } = run(text, { match: ALIKE });
    expect([removed, stretches]).toEqual([[], []]);
  });

  test("another clear word makes another sentence", () => {
    const text = "?press the button to start the machine / press the button to stop the machine.";
    expect(run(text, { match: ALIKE })).toMatchObject({
      removed: [],
      marked: ["review.different_words: press the button to start the machine"],
    });
  });

  test.each([
    ["without a remark", "?but the ?juice is in ?it / cut the pumpkin into quarters.", 0.8, false],
    ["after a remark", "?but the ?juice is in ?it / sorry again / cut the pumpkin into quarters.", 0.8, true],
    ["after a remark", "?but the ?juice is in ?it / sorry again / cut the pumpkin into quarters.", 0.9, false],
  ])("one word that sounds different makes another sentence: %s (%s)", (_, text, worst, isRemoved) => {
    const { removed } = run(text, { match: { distance: 0.4, worst } });
    expect(removed.includes("retake.after_remark: but the juice is in it")).toBe(isRemoved);
    if (!isRemoved) expect(removed).toEqual([]);
  });

  test.each([
    ["distance", { distance: 0.48, worst: 0.5 }, { distance: 0.52, worst: 0.55 }],
    ["worst distance", { distance: 0.4, worst: 0.63 }, { distance: 0.4, worst: 0.67 }],
  ])("takes are alike up to a %s", (_, match, beyond) => {
    const text = "?but the ?juice is in ?it / cut the pumpkin into quarters.";
    expect(run(text, { match }).removed).toEqual(["false_start.prefix: but the juice is in it"]);
    expect(run(text, { match: beyond }).removed).toEqual([]);
  });

  test("a stutter of two words is found by its audio, with a short pause", () => {
    const text = "place that / placed the camera on a table.";
    expect(run(text, { match: ALIKE }).removed).toEqual(["false_start.prefix: place that"]);
    expect(run(text, { match: UNLIKE }).removed).toEqual([]);
  });
});

describe("takes without words", () => {
  type Row = [name: string, text: string, answers: Partial<Answers>, stretches: string[], marked: string[]];
  test.each<Row>([
    [
      "a take before its retake",
      "(we (hope (to / we hope to see you soon.",
      {},
      ["false_start.prefix: (we (hope (to"],
      [],
    ],
    ["recognized words before others that were not", "late books cost / (late (books (cost", {}, [], []],
    [
      "recognized words before a remark, with the remark",
      "late books cost / one more time / (late (books (cost",
      {},
      ["retake.after_remark: late books cost", "remark.between_takes: one more time"],
      [],
    ],
    [
      "a take before a remark, with the remark",
      "(late (books (cost / one more time / late books cost ten cents.",
      {},
      ["retake.after_remark: (late (books (cost", "remark.between_takes: one more time"],
      [],
    ],
    [
      "both, with a remark between them",
      "(late (books (cost / one more time / (late (books (cost",
      {},
      [],
      ["review.uncertain_retake: (late (books (cost"],
    ],
    ["both: a song or another language", "(la (la (la / (la (la (la", {}, [], []],
    [
      "a third phrase that sounds alike",
      "(we (hope (to / we hope to see you soon. / and so on.",
      { neighbors: ALIKE },
      [],
      [],
    ],
    [
      "a take that differs little where it differs most",
      "(we (hope (to / we hope to see you soon.",
      { match: { distance: 0.3, worst: 0.53 } },
      ["false_start.prefix: (we (hope (to"],
      [],
    ],
    [
      "a take that differs more there",
      "(we (hope (to / we hope to see you soon.",
      { match: { distance: 0.3, worst: 0.57 } },
      [],
      [],
    ],
    ["another voice", "(we (hope (to / we hope to see you soon.", { pitches: [100, 200] }, [], []],
    ["faint speech after the loud part", "(we (hope _(we _(are / we hope to see you soon.", {}, [], []],
    [
      "a short phrase that is whole both times",
      "(hip (hip (hooray / hip hip hooray / and so on.",
      {},
      [],
      ["review.deliberate_repetition: (hip (hip (hooray"],
    ],
    [
      "dictation",
      "(four (five (six / four five six seven eight nine.",
      {},
      [],
      ["review.deliberate_repetition: (four (five (six"],
    ],
    [
      "a chant",
      "(row (row (row / row row row your boat gently.",
      {},
      [],
      ["review.deliberate_repetition: (row (row (row"],
    ],
    [
      "a refrain",
      "(let (it (be / let it be me / and then let it be you / so let it be all of us.",
      {},
      [],
      ["review.deliberate_repetition: (let (it (be"],
    ],
  ])("%s", (_, text, answers, stretches, marked) => {
    expect(run(text, { match: ALIKE, ...answers })).toMatchObject({ stretches, marked });
  });

  test("phrases before and after a pair are compared once it may be removed", () => {
    const text = "?we ?will ?see / (we (hope (to / we hope to see you / ?and ?so ?on.";
    const queries = run(text, { match: ALIKE }).asked.map(({ take, retake }) => [take.start, retake.start]);
    const starts = [1.4, 2.8, 4.8].map(fromSeconds);
    expect(queries.slice(-2)).toEqual([
      [starts[0]!, 0],
      [starts[0]!, starts[2]!],
    ]);
  });

  test("voices are measured at the beginning of both, not beyond what sounds alike", () => {
    const long = `(we~6 / we hope to see you soon ${"and so on ".repeat(60).trim()}.`;
    const { measured } = run(long, { match: ALIKE });
    expect(measured.map(({ start, end }) => end - start)).toEqual([fromSeconds(1.5), fromSeconds(1.5)]);
    const [, retake] = run("(we (hope / we hope to see you soon.", { match: ALIKE }).measured;
    expect(retake!.end - retake!.start).toBe(fromSeconds(0.6));
  });

  const REMOVAL = {
    rule: "false_start.prefix",
    scores: { repeatedAt: 9, pause: 1, words: 3, similarity: 0.7, alignment: null },
  } as const;
  const MARK = { rule: "review.unrecognized_speech", scores: { duration: 1, voicedShare: 1 } } as const;
  const stretch = { start: 1_000, end: 2_000, removal: REMOVAL, reviews: [] };
  test.each([
    ["most of it is inside", 900, 1_500, true],
    ["less than half is inside", 500, 1_400, false],
    ["it is longer than the stretch", 0, 3_000, false],
  ])("a span is removed, and keeps its marks, if most of it is inside: %s", (_, start, end, isRemoved) => {
    const removal = isRemoved ? REMOVAL : null;
    const marked = { removal: null, reviews: [MARK] };
    expect(decideByStretch({ start, end }, marked, [stretch])).toEqual({ removal, reviews: [MARK] });
    const word = { start, end, text: "", ...marked };
    expect(decideByStretches([word], [stretch])).toEqual([{ ...word, removal }]);
  });
});
