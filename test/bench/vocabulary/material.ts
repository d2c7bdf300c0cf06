/** Recordings in which synthetic voices say unusual names. */
import { createRandom } from "../cut-quality/talk";
import { concatenate, openBenchVoice, SENTENCES, VOICES } from "../speech/material";
import { CARRIERS, NAME_LISTS } from "./names";

/** Where a name is said, in seconds. */
export type SaidName = { name: string; start: number; end: number };
export type NamedRecording = { title: string; names: readonly string[]; said: SaidName[]; samples: Float32Array };

const RATE = 16_000;
const PAUSE_SECONDS = 0.7;

/** Creates a recording for each list of names. Each name is said once, and every third sentence has none. */
export function createRecordings(): NamedRecording[] {
  const voices = VOICES.map(openBenchVoice);
  return NAME_LISTS.map((names, index) => {
    const random = createRandom(100 + index);
    const speak = voices[index % voices.length]!;
    const parts: (Float32Array | number)[] = [];
    const said: SaidName[] = [];
    let at = 0;
    const say = (text: string, name: string | null): void => {
      const { samples, words } = speak(text, { stretch: 1.1 + 0.1 * random(), pitch: 0.95 + 0.1 * random() });
      const texts = text.split(" ");
      const place = name === null ? -1 : texts.findIndex((word) => word.startsWith(name));
      // A voice may spell a name out, as several words.
      const [first, last] = [words[place], words[words.length - (texts.length - place)]];
      if (name !== null && first && last) said.push({ name, start: at + first.start, end: at + last.end });
      parts.push(samples, PAUSE_SECONDS);
      at += samples.length / RATE + PAUSE_SECONDS;
    };
    for (const [n, name] of names.entries()) {
      say(CARRIERS[(n + index) % CARRIERS.length]!.replace("{}", name), name);
      if (n % 2 === 0) say(SENTENCES[(n + index) % SENTENCES.length]!, null);
    }
    return { title: `${index}-${VOICES[index % VOICES.length]}`, names, said, samples: concatenate(...parts) };
  });
}
