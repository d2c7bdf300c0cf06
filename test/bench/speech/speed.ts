/**
 * Measures speed and word error rate, compared with sherpa-onnx with the same weights:
 * `bun test/bench/speech/speed.ts [FOLDER]`. FOLDER contains WAV files and `references.json`; without it (or
 * `OFFCUT_SHARED`) the speech is synthetic. Each engine runs three times in a separate process, and the fastest run
 * counts. CPU seconds are those of the whole process, without loading the model.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareSpeechGraphs } from "../../../src/build/speech-graphs";
import { createEnergyMeter } from "../../../src/domain/energy";
import { analyze } from "../../../src/speech/analyze";
import { loadMoonshine } from "../../../src/speech/moonshine";
import { openAnalysisAudio } from "../../../src/speech/pcm";
import { NO_LOG } from "../../../src/speech/record-log";
import { transcribe } from "../../../src/speech/transcribe";
import { loadVoiceDetector } from "../../../src/speech/vad";
import { type Clip, concatenate, loadClips, toPcmBytes } from "./material";
import { loadSherpa } from "./sherpa";
import { countWordErrors, normalizeWords } from "./word-errors";

const ROUNDS = 3;
const GRAPHS = join(import.meta.dir, "../../../dist/assets/speech");
const PAUSE_SECONDS = 0.8;

type Row = {
  engine: string;
  audioSeconds: number;
  cpuSeconds: number;
  wallSeconds: number;
  errors: number;
  words: number;
};
type Engine = (all: Clip[], scratch: string) => Promise<() => Promise<string>>;

const ENGINES: Record<string, Engine> = {
  /** With given segments, as for sherpa-onnx; includes word times. */
  "offcut, clips": async (all, scratch) => {
    const moonshine = await loadMoonshine(GRAPHS);
    const pcm = await openAnalysisAudio(await writePcmFile(scratch, concatenate(...all.map((c) => c.samples))));
    let at = 0;
    const segments = all.map((clip) => {
      const start = at;
      at += Math.round((clip.samples.length * 1e6) / 16_000);
      return { start, end: at, speech: [{ start, end: at }] };
    });
    return async () => {
      const meter = createEnergyMeter(pcm.samples);
      meter.add(await pcm.read(0, pcm.samples));
      const audio = { pcm, energy: meter.contour() };
      const work = { check: () => {}, onProgress: () => {}, log: NO_LOG };
      return (await transcribe(moonshine, audio, segments, work)).utterances.map((u) => u.text).join(" ");
    };
  },
  /** One recording: loudness, voice activity, segments, text, word times. */
  "offcut, whole recording": async (all, scratch) => {
    const models = { moonshine: await loadMoonshine(GRAPHS), detector: await loadVoiceDetector(GRAPHS) };
    const pcm = await openAnalysisAudio(
      await writePcmFile(scratch, concatenate(...all.flatMap((c) => [c.samples, PAUSE_SECONDS]))),
    );
    const work = { check: () => {}, onProgress: () => {}, log: NO_LOG };
    return async () => {
      const { transcript } = await analyze(models, pcm, "en", work);
      return transcript!.utterances.map((u) => u.text).join(" ");
    };
  },
  "sherpa-onnx, 1 thread": (all, scratch) => createSherpaRun(all, scratch, 1),
  "sherpa-onnx, 2 threads": (all, scratch) => createSherpaRun(all, scratch, 2),
};

async function createSherpaRun(all: Clip[], scratch: string, threads: number) {
  const transcribeClip = await loadSherpa(scratch, threads);
  return async () => all.map((clip) => transcribeClip(clip.samples)).join(" ");
}

async function writePcmFile(scratch: string, samples: Float32Array) {
  const path = join(scratch, "clips.pcm");
  await writeFile(path, toPcmBytes(samples));
  return { path };
}

async function measure(engine: string, folder: string | undefined): Promise<Row> {
  const scratch = await mkdtemp(join(tmpdir(), "offcut-speed-"));
  const all = await loadClips(folder);
  const transcribeAll = await ENGINES[engine]!(all, scratch);
  const spokenWords = all.flatMap((clip) => normalizeWords(clip.text));
  let best: Row | null = null;
  for (let round = 0; round < ROUNDS; round++) {
    const startedCpu = process.cpuUsage();
    const started = performance.now();
    const text = await transcribeAll();
    const { user, system } = process.cpuUsage(startedCpu);
    const row = {
      engine,
      audioSeconds: all.reduce((sum, clip) => sum + clip.samples.length / 16_000, 0),
      cpuSeconds: (user + system) / 1e6,
      wallSeconds: (performance.now() - started) / 1000,
      errors: countWordErrors(spokenWords, normalizeWords(text)),
      words: spokenWords.length,
    };
    if (best === null || row.cpuSeconds < best.cpuSeconds) best = row;
  }
  await rm(scratch, { recursive: true });
  return best!;
}

async function main() {
  const [folder, engine] = [process.argv[2] || undefined, process.argv[3]];
  if (engine) {
    console.log(JSON.stringify(await measure(engine, folder)));
    return;
  }
  await prepareSpeechGraphs(GRAPHS);
  console.log("engine                    audio s   RTFx per CPU s   RTFx wall   WER %");
  for (const name of Object.keys(ENGINES)) {
    const run = Bun.spawnSync([process.execPath, import.meta.path, folder ?? "", name], { stderr: "inherit" });
    if (run.exitCode !== 0) throw new Error(`${name} failed`);
    const row: Row = JSON.parse(run.stdout.toString());
    const columns = [
      row.engine.padEnd(25),
      row.audioSeconds.toFixed(0).padStart(8),
      (row.audioSeconds / row.cpuSeconds).toFixed(1).padStart(16),
      (row.audioSeconds / row.wallSeconds).toFixed(1).padStart(11),
      ((100 * row.errors) / row.words).toFixed(2).padStart(7),
    ];
    console.log(columns.join(" "));
  }
}

await main();
