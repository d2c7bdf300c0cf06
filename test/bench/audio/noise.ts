/**
 * Adds noise to talks, reduces it, and recognizes the speech again: `bun test/bench/audio/noise.ts [FOLDER]`. FOLDER
 * contains recordings and `references.json`; without it (or `OFFCUT_SHARED`) the speech is synthetic. Prints word
 * errors, levels of pauses and of speech, and the processor time of a stereo render of ten minutes with each option, of
 * all processes, in seconds per second of audio.
 */
import { join } from "node:path";
import type { AudioProcessing } from "../../../src/domain/media";
import { readVoiceActivity } from "../../../src/work/assets/prepared-files";
import { temporaryFolder } from "../../temporary-folder";
import { runTool, systemFfmpeg } from "../../unit/media/generated-media";
import { openModels, openPcm } from "../cut-quality/recording";
import { type Clip, concatenate, loadClips, toPcmBytes } from "../speech/material";
import { countWordErrors, normalizeWords } from "../speech/word-errors";
import { decodeMono, getLevel, RATE, renderWhole, writeMono } from "./rendered-audio";

const SNR_DB = 10;
const PAUSE_SECONDS = 1.5;
/** Fades and reverberation of the model. */
const MARGIN = 0.3 * RATE;
const LONG_SECONDS = 600;
const PAUSE: AudioProcessing[] = [{ noiseReduction: "light" }, { noiseReduction: "strong" }];

if (process.argv[2] === "--render") {
  const [, , , path, output, processing] = process.argv;
  await renderWhole(path!, output!, JSON.parse(processing!));
  process.exit();
}

await using folder = await temporaryFolder();
const models = await openModels();
const clips = await loadClips(process.argv[2]);
const reference = clips.flatMap(({ text }) => normalizeWords(text));

/** Noises between -1 and 1, or so. */
const NOISES: Record<string, string> = {
  white: "anoisesrc=c=white:seed=3:a=0.5",
  pink: "anoisesrc=c=pink:seed=3:a=0.5",
  "hum and fan":
    "anoisesrc=c=brown:seed=3:a=0.5,highpass=60[n];aevalsrc='0.2*sin(2*PI*50*t)+0.1*sin(2*PI*150*t)'[h];[n][h]amix=2",
};

type Span = [from: number, to: number];

/** The clips one after the other, and where they are, at 48 kHz. */
async function joinClips(all: Clip[]): Promise<{ samples: Float32Array; speech: Span[]; pauses: Span[] }> {
  const path = join(folder.path, "clean16.wav");
  const joined = concatenate(PAUSE_SECONDS, ...all.flatMap(({ samples }) => [samples, PAUSE_SECONDS]));
  await writeMono(path, joined, 16_000);
  const samples = await decodeMono(path);
  const [speech, pauses]: [Span[], Span[]] = [[], []];
  let at = 0;
  for (const clip of all) {
    const start = at + PAUSE_SECONDS * RATE;
    pauses.push([at + MARGIN, start - MARGIN]);
    at = start + clip.samples.length * 3;
    speech.push([start, at]);
  }
  return { samples, speech, pauses };
}

/** Recognizes a file. Returns the word errors, and the path of the analysis. */
async function recognize(path: string): Promise<{ errors: number; analysisPath: string }> {
  const pcmPath = join(folder.path, "pcm");
  await Bun.write(pcmPath, toPcmBytes(await decodeMono(path, 16_000)));
  const pcm = await openPcm(pcmPath);
  const { energy: _, ...analysis } = await models.analyze(pcm);
  await pcm.close();
  const text = analysis.transcript!.utterances.map((utterance) => utterance.text).join(" ");
  const analysisPath = join(folder.path, "analysis.json");
  await Bun.write(analysisPath, JSON.stringify(analysis));
  return { errors: countWordErrors(reference, normalizeWords(text)), analysisPath };
}

const { samples: clean, speech, pauses } = await joinClips(clips);
const cleanPath = join(folder.path, "clean.wav");
await writeMono(cleanPath, clean);
const { errors } = await recognize(cleanPath);
const rate = (count: number) =>
  `${count} of ${reference.length} words (${((100 * count) / reference.length).toFixed(1)}%)`;
console.log(`${clips.length} clips, ${(clean.length / RATE).toFixed(0)} s, without noise: ${rate(errors)} wrong`);
for (const [name, source] of Object.entries(NOISES)) {
  const noisePath = join(folder.path, "noise.wav");
  const seconds = String(clean.length / RATE + 1);
  await runTool([
    ...[systemFfmpeg.path, "-v", "error", "-nostdin", "-y", "-filter_complex", `${source}[out]`, "-map", "[out]"],
    ...["-ar", String(RATE), "-ac", "1", "-t", seconds, "-c:a", "pcm_f32le", noisePath],
  ]);
  const noise = await decodeMono(noisePath);
  const gain = 10 ** ((getLevel(clean, speech) - SNR_DB - getLevel(noise, [[0, noise.length]])) / 20);
  const noisy = clean.map((sample, n) => sample + gain * noise[n]!);
  const noisyPath = join(folder.path, "noisy.wav");
  await writeMono(noisyPath, noisy);
  const before = await recognize(noisyPath);
  const voice = await readVoiceActivity(before.analysisPath);
  console.log(`${name}: ${rate(before.errors)} wrong`);
  for (const processing of PAUSE) {
    const output = join(folder.path, "reduced.m4a");
    await renderWhole(noisyPath, output, processing, voice);
    const reduced = await decodeMono(output);
    const after = await recognize(output);
    const change = (spans: Span[]) => (getLevel(reduced, spans) - getLevel(noisy, spans)).toFixed(1);
    const snr = (samples: Float32Array) => getLevel(samples, speech) - getLevel(samples, pauses);
    console.log(
      `  ${processing.noiseReduction}: ${rate(after.errors)} wrong, pauses ${change(pauses)} dB, speech ${change(speech)} dB, ratio of both +${(snr(reduced) - snr(noisy)).toFixed(1)} dB`,
    );
  }
}

const longPath = join(folder.path, "long.wav");
const loop = ["-stream_loop", "-1", "-i", join(folder.path, "noisy.wav"), "-t", String(LONG_SECONDS)];
await runTool([
  ...[systemFfmpeg.path, "-v", "error", "-nostdin", "-y", ...loop, "-af", "pan=stereo|c0=c0|c1=0.8*c0"],
  ...["-c:a", "pcm_s16le", longPath],
]);
const OPTIONS: [name: string, processing: AudioProcessing][] = [
  ["as it is", {}],
  ["loudness", { loudness: -16 }],
  ["noise reduction", { noiseReduction: "light" }],
  ["levels of speakers", { levelSpeakers: true }],
  ["all three", { loudness: -16, noiseReduction: "light", levelSpeakers: true }],
];
for (const [name, processing] of OPTIONS) {
  const child = Bun.spawn(
    [process.execPath, import.meta.path, "--render", longPath, join(folder.path, "o.m4a"), JSON.stringify(processing)],
    { stderr: "inherit" },
  );
  if ((await child.exited) !== 0) throw new Error(`${name} failed`);
  const { cpuTime } = child.resourceUsage()!;
  const seconds = Number(cpuTime.total) / 1e6;
  console.log(`${name}: ${(seconds / LONG_SECONDS).toFixed(4)} of real time`);
}
