import { expect, test } from "bun:test";
import { CUT_MODES } from "../../../src/domain/plan";
import { ENERGY_HOP, type Listening, type Word } from "../../../src/domain/speech";
import { planCut } from "../../../src/work/plan-cut";

const SCRIPT =
  "Willkommen in unserer Werkstatt.\nHeute bauen wir ein kleines Regal.\nDanach streichen wir alle Bretter weiß.";
const SPOKEN = [
  "Willkommen in unserer Werkstatt",
  "Heute bauen wir ein",
  "Heute bauen wir ein kleines Regal",
  "Moment das war falsch",
  "Danach streichen wir alle Bretter weiß",
];
const WORD = 300_000;
const PAUSE = 1_000_000;

/** The sentences with a second of silence around each, as a recogniser without forcing hears them. */
function listening(): Listening {
  const words: Word[] = [];
  const speech: Listening["speech"] = [];
  let at = PAUSE;
  for (const sentence of SPOKEN) {
    const start = at;
    for (const text of sentence.split(" ")) {
      words.push({ text, start: at, end: at + WORD, confidence: 0.8 });
      at += WORD;
    }
    speech.push({ start, end: at });
    at += PAUSE;
  }
  const energy = new Float32Array(at / ENERGY_HOP).fill(-70);
  for (const { start, end } of speech) energy.fill(-20, start / ENERGY_HOP, end / ENERGY_HOP);
  const utterances = speech.map((span, i) => ({ ...span, text: SPOKEN[i]!, meanLogProb: -0.25 }));
  return { duration: at, speech, energy, transcript: { language: "de", words, utterances, forcing: false } };
}

test("without forcing a script is followed by its text alone, and the recogniser is not asked", async () => {
  const heard = listening();
  const info = {
    type: "audio" as const,
    demuxer: "wav",
    duration: heard.duration,
    startPts: 0,
    video: null,
    audio: [],
    timecode: null,
  };
  const plan = await planCut({
    listening: heard,
    probed: { info, frames: null },
    script: SCRIPT,
    options: CUT_MODES.natural,
    force: () => Promise.reject(new Error("asked")),
    language: "de",
  });
  expect(plan.missing).toEqual([]);
  expect(plan.segments.map((segment) => segment.text)).toEqual([SPOKEN[0]!, SPOKEN[2]!, SPOKEN[4]!]);
  expect(plan.takes.map((take) => take.chosen >= 0)).toEqual([true, true, true]);
  const other = planCut({
    listening: heard,
    probed: { info, frames: null },
    script: "Der Regen in Spanien fällt meistens in der Ebene.\nNiemand weiß, warum das so ist.",
    options: CUT_MODES.natural,
    force: () => Promise.reject(new Error("asked")),
    language: "de",
  });
  await expect(other).rejects.toMatchObject({ code: "script_mismatch" });
});
