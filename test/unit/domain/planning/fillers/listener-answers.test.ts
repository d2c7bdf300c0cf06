import { expect, test } from "bun:test";
import { detectActivity } from "../../../../../src/domain/planning/audio-activity";
import { ENGLISH } from "../../../../../src/domain/planning/lexicon/english";
import { findListenerAnswers } from "../../../../../src/domain/planning/other-voices";
import { fromSeconds, type Span } from "../../../../../src/domain/time";
import type { VoiceFeatures } from "../../../../../src/domain/voice";

const spanOf = (start: number, end: number): Span => ({ start: fromSeconds(start), end: fromSeconds(end) });
const voice = (pitch: number, level: number): VoiceFeatures => ({ pitch, level, voiced: 300_000 });
const REGION = spanOf(4, 4.4);

/** Returns whether the region at 4 s, which is 10 dB quieter than the speech around it, is a listener's. */
function isAnswer(voices: VoiceFeatures[], text: string | null = null, level = -30): boolean {
  const energy = new Float32Array(2_000).fill(-75);
  const spoken = [spanOf(1, 3.5), REGION, spanOf(5, 9)];
  for (const span of spoken) energy.fill(span === REGION ? level : -20, span.start / 5_000, span.end / 5_000);
  const activity = detectActivity({ duration: fromSeconds(10), energy, speech: spoken });
  const words = text === null ? [] : [{ text, ...REGION, confidence: 0.5 }];
  const steps = findListenerAnswers([REGION], words, activity, ENGLISH);
  const first = steps.next();
  if (first.done) return first.value.has(REGION);
  expect(first.value).toMatchObject({ kind: "measure_voice", requests: { length: 3 } });
  return (steps.next({ kind: "measure_voice", results: voices }).value as Set<Span>).has(REGION);
}

test("another voice than before and after is a listener's", () => {
  expect(isAnswer([voice(210, -30), voice(110, -20), voice(115, -21)])).toBe(true);
  expect(isAnswer([voice(80, -32), voice(190, -22), voice(185, -21)], "Mm.")).toBe(true);
});

test.each<[string, VoiceFeatures[]]>([
  // A hesitation of a telephone recording: 3.4 and 4.6 semitones lower, 11 and 12 dB quieter.
  ["the speaker's voice, lower and quieter", [voice(88, -34), voice(107, -22), voice(115, -23)]],
  ["the voice of who speaks next", [voice(210, -30), voice(110, -20), voice(205, -21)]],
  ["a voice as loud as the speaker's", [voice(210, -22), voice(110, -20), voice(115, -21)]],
  ["no voice", [null, voice(110, -20), voice(115, -21)]],
])("%s is not", (_, voices) => {
  expect(isAnswer(voices)).toBe(false);
});

test('an "um" is always who speaks, and what is as loud as the speech around it is not measured', () => {
  const voices = [voice(210, -30), voice(110, -20), voice(115, -21)];
  expect(isAnswer(voices, "Um,")).toBe(false);
  expect(isAnswer(voices, null, -21)).toBe(false);
});
