/** A recording with natural sentences for pictures of the editor: audio with a burst for each word, and its words. */
import { join } from "node:path";
import { ENERGY_HOP, PCM_SAMPLE_RATE_HZ, type SpeechAnalysis, type Word } from "../../src/domain/speech";
import { TICKS_PER_SECOND } from "../../src/domain/time";
import type { FakeSpeech } from "../http/fake-speech";
import { makeMedia } from "../http/media";
import { temporaryFolder } from "../temporary-folder";

/**
 * `<0.9>` is a pause of that length, `<noise>` a noise, `<voice>` speech that is not recognized, and a word with `?`
 * before it is uncertain.
 */
const TEXT = `So you buy a boat for one euro, and then what? What did you actually find when you took up the floor? <1.4>
Um, <0.9> well, the first thing was the smell. <0.8> You know, wet oak, and diesel, and something <1.1> older. <0.9>
We lifted the first, <0.5> we lifted the first board and there was <1.3> nothing under it. <0.7>
The keel bolts were, the keel bolts were completely gone. You could push a pencil through them. <1.6>
Uh, <0.4> through the iron? <1.2> Through the iron. Eighty years of salt water. <0.4> <noise> <0.6> Sorry. <0.8>
My father said, burn it. <0.9> He built boats for forty years, he was not being cruel. <0.8>
He said, some of them are finished, and you have to know when. <1.5> But you did not burn it. <1.1>
No. <1.9> I went home that evening and I could not sleep. <1.2> I went home that evening and I could not sleep at all. <0.9>
In the morning I drew the whole hull on the kitchen wall. <0.8> Um, <0.6> every plank, <0.3> <voice> <0.3> every nail. <1.4>
Let us talk about the planks. Where does one even find larch of that length today? <1.3>
Uh, <0.4> in Latvia. A man called ?Janus has a saw with <1.1> a blade that is older than both of us. <0.7>
Is the microphone okay like this? <0.8> He cuts by eye, and he is never off by more than a hair. <1.0>
We chose eleven trees, and they lay in the river for a winter. <0.9> The water takes the sap out. <1.2>
Then you steam them for an hour, and, um, you have about one minute before the wood remembers what it was. <1.1>
Nobody speaks in that minute. <0.9> <voice> <1.2> And after that, the plank is a part of the boat. <0.8>
What would you tell somebody who wants to do the same? <1.4> Start with a smaller boat. <0.9> A much smaller boat. <1.0>`;

const VOICE_LEVEL = 0.3;
const GAP_SECONDS = 0.06;
/** Silence at the end. */
const TAIL_SECONDS = 1.5;

/** `text` is null without words. */
type Sound = { start: number; end: number; text: string | null; isVoice: boolean; confidence: number };

function listSounds(): { sounds: Sound[]; seconds: number } {
  const sounds: Sound[] = [];
  let at = 0.6;
  for (const token of TEXT.split(/\s+/)) {
    const pause = /^<([\d.]+)>$/.exec(token);
    if (pause) {
      at += Number(pause[1]);
      continue;
    }
    const text = token.startsWith("<") ? null : token.replace(/^\?/, "");
    const length = text === null ? 0.7 : 0.12 + 0.045 * text.length;
    const confidence = token.startsWith("?") ? 0.42 : 0.93;
    sounds.push({ start: at, end: at + length, text, isVoice: token !== "<noise>", confidence });
    at += length + GAP_SECONDS;
  }
  return { sounds, seconds: at + TAIL_SECONDS };
}

const { sounds, seconds: SECONDS } = listSounds();

const toTicks = (seconds: number): number => Math.round(seconds * 1_000) * (TICKS_PER_SECOND / 1_000);

export const TALK_WORDS: Word[] = sounds.flatMap(({ start, end, text, confidence }) =>
  text === null ? [] : [{ text, start: toTicks(start), end: toTicks(end), confidence }],
);

function writeSamples(): Int16Array {
  const samples = new Int16Array(Math.ceil(SECONDS * PCM_SAMPLE_RATE_HZ));
  let state = 7;
  for (const { start, end, text } of sounds) {
    const [from, to] = [Math.floor(start * PCM_SAMPLE_RATE_HZ), Math.floor(end * PCM_SAMPLE_RATE_HZ)];
    const loud = VOICE_LEVEL * (0.6 + ((text?.length ?? 9) % 5) / 10);
    for (let n = from; n < to; n++) {
      state = (state * 1_664_525 + 1_013_904_223) >>> 0;
      const shape = Math.sin((Math.PI * (n - from)) / (to - from)) ** 0.5;
      samples[n] = (state / 2 ** 31 - 1) * loud * shape * 32_767;
    }
  }
  return samples;
}

/** Returns the recording as M4A, or with the video of the demo talk, which is repeated. */
export async function makeTalk(kind: "audio" | "video" | "portrait"): Promise<Uint8Array> {
  await using folder = await temporaryFolder();
  const raw = join(folder.path, "talk.pcm");
  await Bun.write(raw, writeSamples());
  const audio = ["-f", "s16le", "-ar", String(PCM_SAMPLE_RATE_HZ), "-ac", "1", "-i", raw];
  if (kind === "audio") return await makeMedia("talk.m4a", ...audio, "-c:a", "aac");
  const picture = join(import.meta.dir, "../fixtures/talk.mp4");
  const scaled = kind === "portrait" ? ["-vf", "crop=ih*9/16:ih,scale=360:640,setsar=1"] : [];
  return await makeMedia(
    "talk.mp4",
    ...[
      "-stream_loop",
      "-1",
      "-i",
      process.env.OFFCUT_PICTURE_VIDEO ?? picture,
      ...audio,
      "-map",
      "0:v",
      "-map",
      "1:a",
    ],
    ...["-t", String(SECONDS), ...scaled, "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-r", "25"],
    ...["-c:a", "aac"],
  );
}

/**
 * Makes the recognizer return the words of the talk for a recording of its length. `detect` sets how likely its
 * language is English.
 */
export function teachTalk(speech: FakeSpeech): { detect(confidence: number): void } {
  const { analyze, forcedAlign, recognize } = speech;
  let confidence = 0.97;
  const isTalk = (duration: number) => Math.abs(duration - toTicks(SECONDS)) < TICKS_PER_SECOND;
  let isOpen = false;
  speech.analyze = async (pcm, options) => {
    const analysis = await analyze(pcm, options);
    isOpen = isTalk(analysis.duration);
    if (!isOpen || options.language === "xx") return analysis;
    return { ...analysis, ...describeTalk(analysis), language: { code: "en", confidence } };
  };
  const listWindow = (start: number, end: number) =>
    TALK_WORDS.filter((word) => word.start >= start - ENERGY_HOP && word.end <= end + ENERGY_HOP);
  speech.forcedAlign = async (audio, requests, options) => {
    const results = await forcedAlign(audio, requests, options);
    if (!isOpen) return results;
    return results.map((result, n) => {
      const { window, text } = requests[n]!;
      const spoken = new Set(listWindow(window.start, window.end).map((word) => normalize(word.text)));
      const wanted = text.split(/\s+/).map(normalize);
      const share = wanted.filter((word) => spoken.has(word)).length / wanted.length;
      const logProb = share > 0.7 ? -0.2 : -6;
      const words = result.words.map((word) => ({ ...word, logProb, confidence: Math.exp(logProb) }));
      return { ...result, words, meanLogProb: logProb, tailLogProb: logProb };
    });
  };
  speech.recognize = async (audio, requests, options) => {
    if (!isOpen) return await recognize(audio, requests, options);
    return requests.map(({ window }) => ({ words: listWindow(window.start, window.end), meanLogProb: -0.2 }));
  };
  return {
    detect: (detected) => {
      confidence = detected;
    },
  };
}

const normalize = (word: string): string => word.toLowerCase().replaceAll(/[^a-z]/g, "");

function describeTalk({ duration }: SpeechAnalysis): Pick<SpeechAnalysis, "transcript" | "speech"> {
  const utterances: { start: number; end: number; text: string; meanLogProb: number }[] = [];
  for (const { text, start, end } of TALK_WORDS) {
    const last = utterances.at(-1);
    if (last && start - last.end < 0.35 * TICKS_PER_SECOND) Object.assign(last, { end, text: `${last.text} ${text}` });
    else utterances.push({ start, end: Math.min(end, duration), text, meanLogProb: -0.2 });
  }
  const voices = sounds.filter(({ text, isVoice }) => text === null && isVoice);
  const speech = [
    ...utterances.map(({ start, end }) => ({ start, end })),
    ...voices.map(({ start, end }) => ({ start: toTicks(start), end: toTicks(end) })),
  ].toSorted((a, b) => a.start - b.start);
  return { speech, transcript: { language: "en", words: TALK_WORDS, utterances } };
}
