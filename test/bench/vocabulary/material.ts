/** Recordings in which synthetic voices say unusual names. */
import type { Manner, Spoken, VoiceName } from "../../fixtures/flite";
import { createRandom } from "../cut-quality/talk";
import { concatenate, openBenchVoice, SENTENCES, VOICES } from "../speech/material";
import { openEspeak } from "./espeak";
import { openFestivalVoice } from "./festival";
import { FOREIGN_CARRIERS, FOREIGN_LISTS, FOREIGN_SENTENCES } from "./foreign-names";
import { FRESH_CARRIERS, FRESH_LISTS, FRESH_SENTENCES } from "./fresh-names";
import { MIXED_CARRIERS, MIXED_LISTS, MIXED_SENTENCES } from "./mixed-names";
import { CARRIERS, NAME_LISTS, OTHER_CARRIERS, OTHER_LISTS, OTHER_SENTENCES } from "./names";
import { UNSEEN_CARRIERS, UNSEEN_LISTS, UNSEEN_SENTENCES } from "./unseen-names";

/** Span in which a name is spoken, in seconds. */
export type SaidName = { name: string; start: number; end: number };
/** Another word, and the seconds in which it is said. */
export type OtherWord = { text: string; start: number; end: number };
/** `others` are the words that are said beside the names, in order; null if unknown. */
export type NamedRecording = {
  title: string;
  names: readonly string[];
  said: SaidName[];
  others: OtherWord[] | null;
  samples: Float32Array;
};

type Speakers = {
  /** Names of the voices, which take turns. */
  voices: readonly string[];
  open: (voice: string) => (text: string, manner: Manner) => Spoken;
  lists: typeof NAME_LISTS;
  carriers: readonly string[];
  sentences: readonly string[];
  /** Minimum factor by which the voices speak slower than normal. */
  stretch: number;
  /** Factors that turn a voice into another one: its samples are played faster by the factor, at the same pace. */
  sizes: readonly number[];
  seed: number;
  /** Returns the text of a name for the voice. */
  toSpoken: (name: string) => string;
};

const RATE = 16_000;
const PAUSE_SECONDS = 0.7;
/** Returns a name without accents, which flite does not pronounce. */
const toAscii = (name: string): string =>
  name.replace(/ı/g, "i").replace(/đ/g, "d").replace(/Đ/g, "D").normalize("NFKD").replace(/\p{M}/gu, "");

const FLITE = { voices: VOICES, open: (voice: string) => openBenchVoice(voice as VoiceName) };

const SLOW: Speakers = {
  ...FLITE,
  lists: NAME_LISTS,
  carriers: CARRIERS,
  sentences: SENTENCES,
  stretch: 1.1,
  sizes: [1],
  seed: 100,
  toSpoken: (name) => name,
};

export const SPEAKERS = {
  slow: SLOW,
  normal: { ...SLOW, stretch: 1, seed: 300 },
  others: {
    ...FLITE,
    lists: OTHER_LISTS,
    carriers: OTHER_CARRIERS,
    sentences: OTHER_SENTENCES,
    stretch: 1.05,
    sizes: [0.9, 1.1, 1.14, 0.93, 1.07],
    seed: 700,
    toSpoken: (name) => name,
  },
  heldBack: {
    ...FLITE,
    lists: FOREIGN_LISTS.map(({ names }) => names),
    carriers: FOREIGN_CARRIERS,
    sentences: FOREIGN_SENTENCES,
    stretch: 1.1,
    sizes: [1, 1.12, 0.94, 1.06],
    seed: 1_100,
    toSpoken: toAscii,
  },
  fresh: {
    voices: ["cmu_us_slt_arctic_hts", "ked_diphone"],
    open: openFestivalVoice,
    lists: FRESH_LISTS,
    carriers: FRESH_CARRIERS,
    sentences: FRESH_SENTENCES,
    stretch: 1.1,
    sizes: [1, 0.95, 1.1, 1.06, 0.92],
    seed: 1_500,
    toSpoken: (name) => name,
  },
  unseen: {
    voices: ["ked_diphone", "cmu_us_slt_arctic_hts", "kal_diphone"],
    open: openFestivalVoice,
    lists: UNSEEN_LISTS,
    carriers: UNSEEN_CARRIERS,
    sentences: UNSEEN_SENTENCES,
    stretch: 1.1,
    sizes: [1.03, 0.96, 1.13, 0.9],
    seed: 2_300,
    toSpoken: (name) => name,
  },
  mixed: {
    voices: ["rms", "ked_diphone", "awb", "cmu_us_slt_arctic_hts"],
    open: (voice) => (voice.includes("_") ? openFestivalVoice(voice) : FLITE.open(voice)),
    lists: MIXED_LISTS,
    carriers: MIXED_CARRIERS,
    sentences: MIXED_SENTENCES,
    stretch: 1.05,
    sizes: [1.05, 0.98, 1.09, 0.94, 1.02],
    seed: 3_100,
    toSpoken: (name) => name,
  },
} satisfies Record<string, Speakers>;

/** Returns the words of a sentence without its name, with the times at which `toSpan` says that they are spoken. */
const listOthers = (
  sentence: string,
  toSpan: (index: number, count: number, isAfterName: boolean) => { start: number; end: number },
): OtherWord[] => {
  const texts = sentence.split(" ");
  const place = texts.findIndex((word) => word.includes("{}"));
  return texts.flatMap((text, i) =>
    i === place ? [] : [{ text, ...toSpan(i, texts.length, place >= 0 && i > place) }],
  );
};

/** Creates a recording for each list of names. Each name is said once, and every third sentence has none. */
export function createRecordings({
  voices,
  open,
  lists,
  carriers,
  sentences,
  stretch,
  sizes,
  seed,
  toSpoken,
}: Speakers): NamedRecording[] {
  const speakers = voices.map(open);
  return lists.map((names, index) => {
    const random = createRandom(seed + index);
    const speak = speakers[index % speakers.length]!;
    const size = sizes[index % sizes.length]!;
    const parts: (Float32Array | number)[] = [];
    const said: SaidName[] = [];
    const others: OtherWord[] = [];
    let at = 0;
    const say = (carrier: string, name: string | null): void => {
      const text = name === null ? carrier : carrier.replace("{}", toSpoken(name));
      const manner = { stretch: (stretch + 0.1 * random()) * size, pitch: 0.95 + 0.1 * random() };
      const { samples: spoken, words } = speak(text, manner);
      const samples = speedUp(spoken, size);
      const around = carrier.split(" ");
      const place = around.findIndex((word) => word.includes("{}"));
      // A voice may spell a name out, as several words.
      const [first, last] = [words[place], words[words.length - (around.length - place)]];
      const offset = at;
      others.push(
        ...listOthers(carrier, (i, count, isAfterName) => {
          const word = words[isAfterName ? words.length - (count - i) : i];
          return { start: offset + (word?.start ?? 0) / size, end: offset + (word?.end ?? 0) / size };
        }),
      );
      if (name !== null && first && last)
        said.push({ name, start: at + first.start / size, end: at + last.end / size });
      parts.push(samples, PAUSE_SECONDS);
      at += samples.length / RATE + PAUSE_SECONDS;
    };
    for (const [n, name] of names.entries()) {
      say(carriers[(n + index) % carriers.length]!, name);
      if (n % 2 === 0) say(sentences[(n + index) % sentences.length]!, null);
    }
    const title = `${index}-${voices[index % voices.length]}`;
    return { title, names, said, others, samples: concatenate(...parts) };
  });
}

const FOREIGN_VOICES = ["en-us+m3", "en+f3", "en-us+f2", "en-gb-x-rp+m1", "en-us+m7", "en-gb-scotland+f4"];

/** Creates a recording for each list of foreign names, by other voices. Every fifth sentence has no name. */
export function createForeignRecordings(): NamedRecording[] {
  const speak = openEspeak();
  return FOREIGN_LISTS.map(({ language, names }, index) => {
    const random = createRandom(900 + index);
    const voice = FOREIGN_VOICES[index % FOREIGN_VOICES.length]!;
    const parts: (Float32Array | number)[] = [];
    const said: SaidName[] = [];
    const others: OtherWord[] = [];
    let at = 0;
    const say = (sentence: string, name: string): void => {
      const spoken = speak(sentence, name, { voice, language, pace: Math.round(140 + 20 * random()) });
      const samples = speedUp(spoken.samples, spoken.rate / RATE);
      const [offset, end] = [at, at + samples.length / RATE];
      // The voice reports no times but those of the name.
      others.push(
        ...listOthers(sentence, (_i, _count, isAfterName) =>
          name === ""
            ? { start: offset, end }
            : isAfterName
              ? { start: offset + spoken.end, end }
              : { start: offset, end: offset + spoken.start },
        ),
      );
      if (name !== "") said.push({ name, start: at + spoken.start, end: at + spoken.end });
      parts.push(samples, PAUSE_SECONDS);
      at += samples.length / RATE + PAUSE_SECONDS;
    };
    for (const [n, name] of names.entries()) {
      say(FOREIGN_CARRIERS[(n + index) % FOREIGN_CARRIERS.length]!, name);
      if (n % 4 === 0) say(FOREIGN_SENTENCES[(n + index) % FOREIGN_SENTENCES.length]!, "");
    }
    return { title: `${index}-${language}-${voice}`, names, said, others, samples: concatenate(...parts) };
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
