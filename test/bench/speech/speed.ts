/**
 * Speed and word errors, beside sherpa-onnx with the same weights: `bun test/bench/speech/speed.ts [FOLDER]`.
 * FOLDER holds wav files and `references.json`; without it (or `OFFCUT_SHARED`) synthetic speech is used. Each engine runs in a process of its
 * own, three times; the fastest counts. Processor seconds are those of the whole process, without loading the model.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareSpeechGraphs } from "../../../src/build/speech-graphs";
import { analyze } from "../../../src/speech/analyze";
import { createEnergyMeter } from "../../../src/speech/energy";
import { loadMoonshine } from "../../../src/speech/moonshine";
import { openPcm } from "../../../src/speech/pcm";
import { transcribe } from "../../../src/speech/transcribe";
import { loadVoiceDetector } from "../../../src/speech/vad";
import { type Clip, clips, joined, pcmBytes } from "./material";
import { loadSherpa } from "./sherpa";
import { plainWords, wordErrors } from "./word-errors";

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
  /** Segments given, as sherpa gets them; with word times. */
  "offcut, clips": async (all, scratch) => {
    const moonshine = await loadMoonshine(GRAPHS, 2);
    const pcm = await openPcm(await pcmFile(scratch, joined(...all.map((c) => c.samples))));
    let at = 0;
    const segments = all.map((clip) => {
      const start = at;
      at += Math.round((clip.samples.length * 1e6) / 16_000);
      return { start, end: at, speech: [{ start, end: at }] };
    });
    return async () => {
      const meter = createEnergyMeter(pcm.samples);
      meter.add(await pcm.read(0, pcm.samples));
      const sound = { pcm, energy: meter.contour() };
      const nothing = () => {};
      return (await transcribe(moonshine, sound, segments, nothing, nothing)).utterances.map((u) => u.text).join(" ");
    };
  },
  /** One recording, nothing given: loudness, voice activity, segments, text, word times. */
  "offcut, whole recording": async (all, scratch) => {
    const models = { moonshine: await loadMoonshine(GRAPHS, 2), detector: await loadVoiceDetector(GRAPHS) };
    const pcm = await openPcm(await pcmFile(scratch, joined(...all.flatMap((c) => [c.samples, PAUSE_SECONDS]))));
    const nothing = () => {};
    return async () => {
      const { transcript } = await analyze(models, pcm, "en", nothing, nothing);
      return transcript!.utterances.map((u) => u.text).join(" ");
    };
  },
  "sherpa-onnx, 1 thread": (all, scratch) => sherpa(all, scratch, 1),
  "sherpa-onnx, 2 threads": (all, scratch) => sherpa(all, scratch, 2),
};

async function sherpa(all: Clip[], scratch: string, threads: number) {
  const recognise = await loadSherpa(scratch, threads);
  return async () => all.map((clip) => recognise(clip.samples)).join(" ");
}

async function pcmFile(scratch: string, samples: Float32Array) {
  const path = join(scratch, "clips.pcm");
  await writeFile(path, pcmBytes(samples));
  return { path };
}

async function measure(engine: string, folder: string | undefined): Promise<Row> {
  const scratch = await mkdtemp(join(tmpdir(), "offcut-speed-"));
  const all = await clips(folder);
  const recognise = await ENGINES[engine]!(all, scratch);
  const said = all.flatMap((clip) => plainWords(clip.text));
  let best: Row | null = null;
  for (let round = 0; round < ROUNDS; round++) {
    const startedCpu = process.cpuUsage();
    const started = performance.now();
    const text = await recognise();
    const { user, system } = process.cpuUsage(startedCpu);
    const row = {
      engine,
      audioSeconds: all.reduce((sum, clip) => sum + clip.samples.length / 16_000, 0),
      cpuSeconds: (user + system) / 1e6,
      wallSeconds: (performance.now() - started) / 1000,
      errors: wordErrors(said, plainWords(text)),
      words: said.length,
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
