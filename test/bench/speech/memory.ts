/**
 * Measures memory and time by duration: `bun test/bench/speech/memory.ts [MINUTES…]` (default: 10 30; 180 is the full
 * size). The engine analyzes one recording of each duration in a new child process, whose peak memory is read from
 * `/proc`.
 */
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareSpeechGraphs } from "../../../src/build/speech-graphs";
import { createSpeechEngine } from "../../../src/speech/engine";
import { type Clip, concatenate, loadClips, toPcmBytes } from "./material";

const GRAPHS = join(import.meta.dir, "../../../dist/assets/speech");
const CHILD = join(import.meta.dir, "../../unit/speech/process-entry.ts");
const SAMPLE_EVERY_MS = 500;

/** Writes clips in varying order, with pauses, until the file is long enough. */
async function writeSpeech(path: string, all: Clip[], minutes: number): Promise<void> {
  const file = await open(path, "w");
  let samples = 0;
  for (let i = 0; samples < minutes * 60 * 16_000; i++) {
    const clip = all[(i * 7 + Math.floor(i / all.length)) % all.length]!;
    const samplesWithPause = concatenate(clip.samples, 0.3 + (i % 5) * 0.3);
    await file.write(toPcmBytes(samplesWithPause));
    samples += samplesWithPause.length;
  }
  await file.close();
}

/** Reads a field of `/proc/PID/status` in megabytes; 0 when the process has ended. */
async function readMemoryMegabytes(pid: number, field: "VmHWM" | "VmRSS"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
}

async function measure(path: string) {
  let pid = 0;
  let peak = 0;
  const engine = createSpeechEngine({
    command: [process.execPath, CHILD, GRAPHS],
    log: (event, fields) => {
      if (event === "speech.started" && "pid" in fields) pid = Number(fields.pid);
    },
  });
  const sampling = setInterval(async () => {
    peak = Math.max(peak, await readMemoryMegabytes(pid, "VmHWM"));
  }, SAMPLE_EVERY_MS);
  const started = performance.now();
  let longestProgressGap = 0;
  let last = started;
  const onProgress = () => {
    longestProgressGap = Math.max(longestProgressGap, performance.now() - last);
    last = performance.now();
  };
  const analysis = await engine.analyze({ path }, { language: "en", onProgress });
  const seconds = (performance.now() - started) / 1000;
  clearInterval(sampling);
  peak = Math.max(peak, await readMemoryMegabytes(pid, "VmHWM"));
  await engine.close();
  return {
    seconds,
    peak,
    longestProgressGap,
    words: analysis.transcript!.words.length,
    own: await readMemoryMegabytes(process.pid, "VmHWM"),
  };
}

await prepareSpeechGraphs(GRAPHS);
const all = await loadClips();
const sizes = process.argv.slice(2).map(Number);
const scratch = await mkdtemp(join(tmpdir(), "offcut-memory-"));
console.log("minutes   wall s   RTFx wall   child peak MB   this process peak MB   words   longest gap in progress ms");
for (const minutes of sizes.length > 0 ? sizes : [10, 30]) {
  const path = join(scratch, `${minutes}.pcm`);
  await writeSpeech(path, all, minutes);
  const { seconds, peak, own, words, longestProgressGap } = await measure(path);
  const columns = [
    String(minutes).padStart(7),
    seconds.toFixed(1).padStart(8),
    ((minutes * 60) / seconds).toFixed(1).padStart(11),
    peak.toFixed(0).padStart(15),
    own.toFixed(0).padStart(22),
    String(words).padStart(7),
    longestProgressGap.toFixed(0).padStart(28),
  ];
  console.log(columns.join(" "));
  await rm(path);
}
await rm(scratch, { recursive: true });
