/**
 * Renders twelve recordings at five loudness targets, and measures the files with ffmpeg's meter:
 * `bun test/bench/audio/loudness.ts [FILE…]`. Further files are added to the set. Prints the largest error and the
 * highest true peak of each target, and each file that misses one.
 */
import { join } from "node:path";
import { openVoice } from "../../fixtures/flite";
import { temporaryFolder } from "../../temporary-folder";
import { runTool, systemFfmpeg } from "../../unit/media/generated-media";
import { SENTENCES } from "../speech/material";
import { measureLoudness, RATE, renderWhole, writeMono } from "./rendered-audio";

const TARGETS = [-9, -14, -16, -23, -31];
const MAX_ERROR_LU = 0.3;
const MAX_PEAK_DBTP = -1;

await using folder = await temporaryFolder();
const talkPath = join(folder.path, "talk.wav");
await writeMono(talkPath, createTalk());

/** Sentences of a synthetic voice, half a second apart. */
function createTalk(): Float32Array {
  const speak = openVoice("rms");
  const parts = SENTENCES.map((text) => speak(text, { stretch: 1, pitch: 1 }).samples);
  const factor = RATE / 16_000;
  const pause = RATE / 2;
  const samples = new Float32Array(parts.reduce((sum, part) => sum + factor * part.length + pause, pause));
  let at = pause;
  for (const part of parts) {
    for (let n = 0; n < factor * part.length; n++) {
      const place = n / factor;
      const before = part[Math.floor(place)]!;
      samples[at + n] = before + (place % 1) * ((part[Math.floor(place) + 1] ?? 0) - before);
    }
    at += factor * part.length + pause;
  }
  return samples;
}

const talk = (filter: string): string[] => ["-i", talkPath, "-filter_complex", `[0:a]${filter}[out]`, "-map", "[out]"];
const tones = (source: string): string[] => ["-f", "lavfi", "-i", source, "-t", "25"];

/** Recipes of ffmpeg for WAV files. */
const RECORDINGS: Record<string, string[]> = {
  speech: talk("anull"),
  "soft speech": talk("volume=-30dB"),
  "speech with clicks": talk("aeval=val(0)*0.3+0.9*lt(mod(t\\,2.1)\\,0.001)*sin(2*PI*900*t)"),
  "stereo, one side": talk("pan=stereo|c0=c0|c1=0.05*c0"),
  "5.1": talk("pan=5.1|FL=0.5*c0|FR=0.5*c0|FC=c0|LFE=c0|BL=0.3*c0|BR=0.3*c0"),
  "7.1": talk("pan=7.1|FL=0.5*c0|FR=0.5*c0|FC=c0|LFE=c0|BL=0.3*c0|BR=0.3*c0|SL=0.2*c0|SR=0.2*c0"),
  "phone, 8 kHz": talk("aresample=8000"),
  "clipped speech": talk("volume=18dB,aformat=s16,aformat=flt"),
  "chords, 44.1 kHz": tones(
    "aevalsrc='0.1*sin(2*PI*220*t)+0.1*sin(2*PI*331*t)*(1+sin(t))|0.1*sin(2*PI*277*t)+0.05*sin(2*PI*440*t)':s=44100",
  ),
  "drums, 96 kHz": tones(
    "aevalsrc='0.5*(random(0)*2-1)*exp(-mod(t,0.25)*32)+0.6*sin(2*PI*60*t)*exp(-mod(t,0.5)*9)':s=96000",
  ),
  "clipped tone": tones("aevalsrc='clip(3*sin(2*PI*97*t)*(0.2+mod(t,1)),-1,1)':s=48000"),
  silence: tones("anullsrc=r=48000:cl=stereo"),
};

const files: [name: string, path: string][] = [];
for (const [name, recipe] of Object.entries(RECORDINGS)) {
  const path = join(folder.path, `${files.length}.wav`);
  await runTool([systemFfmpeg.path, "-v", "error", "-nostdin", ...recipe, path]);
  files.push([name, path]);
}
for (const path of process.argv.slice(2)) files.push([path.split("/").at(-1)!, path]);

for (const [name, path] of files) {
  const { integrated, peak } = await measureLoudness(path);
  console.log(`${name}: ${integrated ?? "silent"} LUFS, ${peak} dBTP`);
}
for (const target of TARGETS) {
  let [maxError, maxPeak, reached, warned] = [0, Number.NEGATIVE_INFINITY, 0, 0];
  const misses: string[] = [];
  for (const [name, path] of files) {
    const output = join(folder.path, "out.m4a");
    const warnings = await renderWhole(path, output, { loudness: target });
    const { integrated, peak } = await measureLoudness(output);
    if (integrated === null) {
      console.log(`  ${name}: ${warnings.join(" ")}`);
      continue;
    }
    const error = Math.abs(integrated - target);
    maxPeak = Math.max(maxPeak, peak!);
    if (error > MAX_ERROR_LU + 0.001 || peak! > MAX_PEAK_DBTP)
      misses.push(`  ${name}: ${integrated} LUFS, ${peak} dBTP. ${warnings.join(" ")}`);
    else {
      reached++;
      maxError = Math.max(maxError, error);
    }
    if (warnings.length > 0) warned++;
  }
  console.log(
    `${target} LUFS: ${reached} reached within ${maxError.toFixed(1)} LU, highest true peak ${maxPeak.toFixed(1)} dBTP, ${warned} with a warning`,
  );
  for (const miss of misses) console.log(miss);
}
