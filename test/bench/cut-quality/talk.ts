/**
 * Synthesizes a talk from a screenplay, which lists the spoken words, their manner, and the words that a perfect cut
 * keeps.
 */
import { openVoice, SPEECH_RATE, type SpokenWord, type VoiceName } from "../../fixtures/flite";

/**
 * An utterance. `stop`: number of words after which it ends, within the last word when `broken`. `pause`: seconds of
 * silence after it. `voice`: another speaker.
 */
export type Line = {
  say: string;
  voice?: VoiceName;
  type: "take" | "partial" | "remark" | "filler";
  keep: boolean;
  sentence?: number | undefined;
  stop?: number;
  broken?: boolean;
  pause: number;
  tempo?: number;
};

export type Screenplay = {
  about: string;
  voice: VoiceName;
  seed: number;
  /** Signal-to-noise ratio in dB; default 50. */
  snr?: number;
  /** Reverberation time (RT60) in seconds; default none. */
  reverb?: number;
  /** The speech passes a telephone: 300 to 3,400 Hz. */
  phone?: boolean;
  script: string;
  lines: Line[];
};

/** A span of the talk that a perfect cut keeps or removes, with the times of its words in seconds. */
export type Event = {
  type: Line["type"];
  keep: boolean;
  sentence?: number | undefined;
  start: number;
  end: number;
  words: SpokenWord[];
};
export type Talk = { name: string; samples: Float32Array; script: string; events: Event[] };

const LEAD_IN_SECONDS = 1.1;
const SILENCE_BEFORE_SECONDS = 0.03;
const SILENCE_AFTER_SECONDS = 0.05;
const FADE_SAMPLES = 120;

/** Synthesizes a screenplay. Every line has its own tempo and pitch, so that no two takes are identical. */
export function synthesizeTalk(name: string, play: Screenplay): Talk {
  const random = createRandom(play.seed);
  const voices = new Map<VoiceName, ReturnType<typeof openVoice>>();
  const parts: Float32Array[] = [new Float32Array(LEAD_IN_SECONDS * SPEECH_RATE)];
  const events: Event[] = [];
  let at = parts[0]!.length;
  for (const line of play.lines) {
    const voiceOptions = { stretch: (line.tempo ?? 1) * (0.93 + 0.14 * random()), pitch: 0.95 + 0.1 * random() };
    const name = line.voice ?? play.voice;
    const voice = voices.get(name) ?? openVoice(name);
    voices.set(name, voice);
    const spoken = voice(line.say, voiceOptions);
    const words = spoken.words.slice(0, line.stop ?? spoken.words.length).map((word) => ({ ...word }));
    const last = words[words.length - 1]!;
    if (line.broken) last.end = last.start + (last.end - last.start) * (0.4 + 0.3 * random());
    const from = Math.max(0, Math.round((words[0]!.start - SILENCE_BEFORE_SECONDS) * SPEECH_RATE));
    const whole = line.stop === undefined && !line.broken;
    const to = Math.round((last.end + (whole ? SILENCE_AFTER_SECONDS : 0)) * SPEECH_RATE);
    const part = fadeEdges(spoken.samples.slice(from, to));
    const moved = words.map((word) => ({
      word: word.word,
      start: word.start + (at - from) / SPEECH_RATE,
      end: word.end + (at - from) / SPEECH_RATE,
    }));
    const { type, keep, sentence } = line;
    events.push({ type, keep, sentence, start: moved[0]!.start, end: moved[moved.length - 1]!.end, words: moved });
    const silence = new Float32Array(Math.round((line.pause + 0.08 * random()) * SPEECH_RATE));
    parts.push(part, silence);
    at += part.length + silence.length;
  }
  const dry = concatenate(parts, at);
  const wet = play.reverb ? addReverb(dry, play.reverb, random) : dry;
  const noisy = addNoise(wet, play.snr ?? 50, random);
  return { name, samples: play.phone ? passTelephone(noisy) : noisy, script: play.script, events };
}

/** Creates a seeded generator of random numbers from 0 to 1 (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function fadeEdges(samples: Float32Array): Float32Array {
  return samples.map((sample, i) => sample * Math.min(1, i / FADE_SAMPLES, (samples.length - 1 - i) / FADE_SAMPLES));
}

function concatenate(parts: readonly Float32Array[], length: number): Float32Array {
  const out = new Float32Array(length);
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Adds reverberation: sparse echoes at random delays with exponential decay. */
function addReverb(dry: Float32Array, seconds: number, random: () => number): Float32Array {
  const out = dry.slice();
  for (let delay = 0.011; delay < seconds; delay += 0.004 + 0.02 * random()) {
    const gain = 0.28 * 10 ** ((-3 * delay) / seconds) * (random() < 0.5 ? -1 : 1);
    const shift = Math.round(delay * SPEECH_RATE);
    for (let i = shift; i < out.length; i++) out[i]! += gain * dry[i - shift]!;
  }
  return out;
}

const TELEPHONE_BAND_HZ = [300, 3_400] as const;

/** Limits the band with one pole each way, twice, as the lines of a telephone do. */
function passTelephone(samples: Float32Array): Float32Array {
  const [low, high] = TELEPHONE_BAND_HZ.map((hz) => 1 - Math.exp((-2 * Math.PI * hz) / SPEECH_RATE)) as [
    number,
    number,
  ];
  let out = samples;
  for (let round = 0; round < 2; round++) {
    let [slow, fast] = [0, 0];
    out = out.map((sample) => {
      slow += low * (sample - slow);
      fast += high * (sample - slow - fast);
      return fast;
    });
  }
  return out;
}

function addNoise(samples: Float32Array, snr: number, random: () => number): Float32Array {
  let power = 0;
  let loud = 0;
  for (const sample of samples) {
    if (Math.abs(sample) < 0.003) continue;
    power += sample * sample;
    loud++;
  }
  const level = Math.sqrt(power / Math.max(1, loud)) / 10 ** (snr / 20);
  return samples.map((sample) => sample + level * Math.sqrt(3) * (2 * random() - 1));
}
