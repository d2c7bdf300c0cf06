/** Recordings in which synthetic voices say unusual names. */
import { createRandom } from "../cut-quality/talk";
import { concatenate, openBenchVoice, SENTENCES, VOICES } from "../speech/material";
import { CARRIERS, NAME_LISTS, OTHER_CARRIERS, OTHER_LISTS, OTHER_SENTENCES } from "./names";

/** Where a name is said, in seconds. */
export type SaidName = { name: string; start: number; end: number };
export type NamedRecording = { title: string; names: readonly string[]; said: SaidName[]; samples: Float32Array };

type Speakers = {
  lists: typeof NAME_LISTS;
  carriers: readonly string[];
  sentences: readonly string[];
  /** How much slower than normal the voices speak at least. */
  stretch: number;
  /** What turns a voice into another one: its samples are played this much faster, at the same pace. */
  sizes: readonly number[];
  seed: number;
};

const RATE = 16_000;
const PAUSE_SECONDS = 0.7;
const SLOW: Speakers = {
  lists: NAME_LISTS,
  carriers: CARRIERS,
  sentences: SENTENCES,
  stretch: 1.1,
  sizes: [1],
  seed: 100,
};

export const SPEAKERS = {
  slow: SLOW,
  normal: { ...SLOW, stretch: 1, seed: 300 },
  others: {
    lists: OTHER_LISTS,
    carriers: OTHER_CARRIERS,
    sentences: OTHER_SENTENCES,
    stretch: 1.05,
    sizes: [0.9, 1.1, 1.14, 0.93, 1.07],
    seed: 700,
  },
} satisfies Record<string, Speakers>;

/** Creates a recording for each list of names. Each name is said once, and every third sentence has none. */
export function createRecordings({ lists, carriers, sentences, stretch, sizes, seed }: Speakers): NamedRecording[] {
  const voices = VOICES.map(openBenchVoice);
  return lists.map((names, index) => {
    const random = createRandom(seed + index);
    const speak = voices[index % voices.length]!;
    const size = sizes[index % sizes.length]!;
    const parts: (Float32Array | number)[] = [];
    const said: SaidName[] = [];
    let at = 0;
    const say = (text: string, name: string | null): void => {
      const manner = { stretch: (stretch + 0.1 * random()) * size, pitch: 0.95 + 0.1 * random() };
      const { samples: spoken, words } = speak(text, manner);
      const samples = speedUp(spoken, size);
      const texts = text.split(" ");
      const place = name === null ? -1 : texts.findIndex((word) => word.startsWith(name));
      // A voice may spell a name out, as several words.
      const [first, last] = [words[place], words[words.length - (texts.length - place)]];
      if (name !== null && first && last)
        said.push({ name, start: at + first.start / size, end: at + last.end / size });
      parts.push(samples, PAUSE_SECONDS);
      at += samples.length / RATE + PAUSE_SECONDS;
    };
    for (const [n, name] of names.entries()) {
      say(carriers[(n + index) % carriers.length]!.replace("{}", name), name);
      if (n % 2 === 0) say(sentences[(n + index) % sentences.length]!, null);
    }
    return { title: `${index}-${VOICES[index % VOICES.length]}`, names, said, samples: concatenate(...parts) };
  });
}

/** Returns samples that play faster, and so higher. */
function speedUp(samples: Float32Array, factor: number): Float32Array {
  if (factor === 1) return samples;
  return new Float32Array(Math.floor(samples.length / factor)).map((_, n) => {
    const [at, share] = [Math.floor(n * factor), (n * factor) % 1];
    return samples[at]! * (1 - share) + (samples[at + 1] ?? 0) * share;
  });
}
