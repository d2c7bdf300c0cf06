/** Recordings in other languages, as a recognizer that makes no mistakes transcribes them. */
import { describe, expect, test } from "bun:test";
import { judgePlan } from "../../../../src/domain/pacing/judge-plan";
import { planToJson } from "../../../../src/domain/plan-json";
import type { StagedPlan } from "../../../../src/domain/planning/context";
import { fromSeconds, type Span } from "../../../../src/domain/time";
import { cutRecording } from "./cut-recording";
import { createRecording, type Moment } from "./test-recording";

type Talk = { language: string; lines: readonly string[]; filler: string; remark: string; falseStart: string };

const TALKS: readonly Talk[] = [
  {
    language: "de",
    lines: [
      "Willkommen in der Werkstatt, in der wir heute ein Regal aus Eiche bauen.",
      "Das sind die, die die Wand gestrichen haben, und so was war in so einem Haus nötig.",
      "Danke. Danke schön an alle, die so lange geholfen haben.",
      "Bohren Sie zuerst zwei Löcher, und dann noch eines in der Mitte.",
      "Wir messen einmal, zweimal, und sie sie noch ein drittes Mal.",
      "Das war ein sehr, sehr langer Tag, ja, ja, aber er war schön.",
    ],
    filler: "ähm",
    remark: "Entschuldigung, noch einmal.",
    falseStart: "Bohren Sie zuerst zwei",
  },
  {
    language: "es",
    lines: [
      "Hoy vamos a montar una estantería en la pared del salón.",
      "No, no, eso es muy muy difícil, y así así no se hace.",
      "Muchas gracias. Muchas gracias a todos los que me ayudaron.",
      "Primero hay que medir la pared y después marcar dos puntos.",
      "Es más que que nadie lo mire, se trata de que se vea recto.",
      "Uno, dos, tres, y uno más para la última tabla de madera.",
    ],
    filler: "ehm",
    remark: "Perdón, otra vez.",
    falseStart: "Primero hay que medir",
  },
  {
    language: "fr",
    lines: [
      "Aujourd'hui nous allons fixer une étagère au mur du salon.",
      "Nous nous sommes levés tôt, et vous vous êtes assis là.",
      "C'est très très loin, non, non, je ne le vois pas d'ici.",
      "Ensuite il faut percer deux trous dans la brique rouge.",
      "Le code est deux deux trois, deux deux trois, on me l'a dit.",
      "Merci. Merci beaucoup à tous ceux qui sont venus nous aider.",
    ],
    filler: "euh",
    remark: "Pardon, je recommence.",
    falseStart: "Ensuite il faut percer",
  },
];

/** Returns the words of a text, grouped by spelling. */
const groupWords = (text: string) => Map.groupBy(text.split(" ").filter(Boolean), (word) => word);

describe.each(TALKS)("a recording in $language", ({ language, lines, filler, remark, falseStart }) => {
  const fluent: Moment[] = lines.flatMap((line): Moment[] => [line, 0.8]);
  const withRetake: Moment[] = lines.flatMap((line): Moment[] =>
    line.startsWith(falseStart) ? [falseStart, 0.6, remark, 0.8, line, 0.8] : [line, 0.4, filler, 0.4],
  );
  const cut = async (moments: readonly Moment[], script: string, forcing: boolean) => {
    const recording = createRecording(1, ...moments, 1);
    const transcript = { ...recording.analysis.transcript!, language, ...(!forcing && { forcing }) };
    const plan = await cutRecording({ ...recording, analysis: { ...recording.analysis, transcript } }, script);
    expect([plan.language, plan.warnings]).toEqual([language, []]);
    const isKept = (span: { start: number; end: number }) =>
      plan.segments.some(({ start, end }) => start <= span.start && span.end <= end);
    const kept = transcript.words.filter(isKept).map(({ text }) => text);
    return groupWords(kept.join(" "));
  };

  describe.each([[true], [false]])("with forced alignment: %p", (forcing) => {
    test("loses no fluent word", async () => {
      const all = groupWords(lines.join(" "));
      expect(await cut(fluent, "", forcing)).toEqual(all);
      expect(await cut(fluent, lines.join("\n"), forcing)).toEqual(all);
    });

    test("loses its fillers, its false start and its remark, and no other word", async () => {
      const all = groupWords(lines.join(" "));
      expect(await cut(withRetake, "", forcing)).toEqual(all);
      expect(await cut(withRetake, lines.join("\n"), forcing)).toEqual(all);
    });
  });
});

test("another language inside English has one mark, although a part of it has no words", async () => {
  const [, , , , , german] = TALKS[0]!.lines;
  const recording = createRecording(
    ...[1, "Measure the wall and mark two places before you drill.", 1, german!, 0.3, { hum: 0.6 }, 0.2, german!],
    ...[1, "Then mount the shelf and check that it is level.", 1],
  );
  const { analysis } = recording;
  const { words, utterances } = analysis.transcript!;
  const spoken = analysis.speech.filter(({ end, start }) => end - start !== fromSeconds(0.6));
  for (const [i, { start, end }] of spoken.entries()) {
    const meanLogProb = i === 1 || i === 2 ? -0.9 : -0.1;
    utterances.push({ start, end, text: "", meanLogProb });
    for (const word of words) if (start <= word.start && word.end <= end) word.confidence = Math.exp(meanLogProb);
  }
  // The voice without words is in the same span as the sentence after it.
  const wordless = analysis.speech[2]!;
  analysis.speech.splice(2, 2, { start: wordless.start, end: spoken[2]!.end });
  const plan = (await cutRecording(recording)) as StagedPlan;
  expect(judgePlan(planToJson(plan), plan.basis.spans).review).toMatchObject([
    { start: spoken[1]!.start / 1e6, end: spoken[2]!.end / 1e6, rule: "review.unrecognized_speech" },
  ]);
  expect(plan.warnings).toHaveLength(1);
});

/** Cuts a recording with this log probability everywhere, and returns the seconds of removed takes, and warnings. */
async function cutTakes(moments: Moment[], meanLogProb: number, toUtterances: (speech: Span[]) => Span[]) {
  const recording = createRecording(...moments);
  const { speech, transcript } = recording.analysis;
  for (const word of transcript!.words) word.confidence = Math.exp(meanLogProb);
  for (const span of toUtterances(speech)) transcript!.utterances.push({ ...span, text: "", meanLogProb });
  const { basis, warnings } = (await cutRecording(recording)) as StagedPlan;
  const takes = basis.spans.filter(({ reason }) => reason === "retake");
  return { removed: takes.reduce((sum, { start, end }) => sum + (end - start) / 1e6, 0), warnings };
}

const LINE = "Measure the wall and mark two places before you drill.";

test.each([3, 4])("of %d clear takes of a line in one utterance, the last stays", async (count) => {
  const takes = Array.from({ length: count }, () => [LINE, 0.5]).flat();
  const moments = [1, ...takes, 1, "Then mount the shelf and check that it is level.", 1];
  const { removed, warnings } = await cutTakes(moments, -0.1, (speech) => [
    { start: speech[0]!.start, end: speech[count - 1]!.end },
    speech[count]!,
  ]);
  expect(removed).toBeCloseTo((count - 1) * 2.475, 1);
  expect(warnings).toEqual([]);
});

test.each([
  ["some takes of a line are removed", LINE, 5, -0.4, 9.9, 0],
  ["many repetitions of a line stay, with a warning", LINE, 30, -0.4, 0, 1],
  ["many thanks from a model without log probabilities do too", "Thank you.", 60, -0.25, 0, 1],
])("in uncertain speech %s", async (_, text, count, logProb, seconds, warned) => {
  const moments = Array.from({ length: count }, () => [1, text]).flat();
  const { removed, warnings } = await cutTakes([...moments, 1], logProb, (speech) => speech);
  expect(removed).toBeCloseTo(seconds, 1);
  expect(warnings).toHaveLength(warned);
});
