/**
 * Measures the processor time of planning: `bun test/bench/cut-quality/long.ts [ROOT]`. An hour of talk without a
 * script and with one, and three hours with a script of 20,000 words, in which every tenth line is said twice. The
 * recognizer is simulated, and its time is not counted. ROOT is another checkout to compare with.
 */
import { join, resolve } from "node:path";
import type { PlanCutInput } from "../../../src/work/cuts/plan-cut";
import { audioPlanInput } from "../../unit/domain/planning/plan-input";
import { createRecording, type Moment, type TestRecording } from "../../unit/work/cuts/test-recording";

const root = resolve(process.argv[2] ?? join(import.meta.dir, "../../.."));
const { planCut } = (await import(join(root, "src/work/cuts/plan-cut.ts"))) as {
  planCut: (input: PlanCutInput) => Promise<{ segments: unknown[] }>;
};

const RUNS = 1;
const WORDS_PER_LINE = 10;
/** English words, those of the guides of this project. */
const guides = await Promise.all(
  ["README.md", "src/README.md", "src/domain/planning/README.md", "test/bench/README.md"].map((file) =>
    Bun.file(join(import.meta.dir, "../../..", file)).text(),
  ),
);
const vocabulary = [
  ...new Set(
    guides
      .join(" ")
      .toLowerCase()
      .match(/\b[a-z]{2,}\b/g),
  ),
];

for (const [hours, scriptWords] of [
  [1, 0],
  [1, 6667],
  [3, 20_000],
] as const) {
  const lines = createLines((hours * 20_000) / 3);
  const recording = createRecording(...lines.flatMap((line, i): Moment[] => toMoments(line, i)));
  const script = lines.slice(0, scriptWords / WORDS_PER_LINE).join(".\n");
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) times.push(await measure(recording, script));
  const seconds = recording.analysis.duration / 1e6;
  const label = `${(seconds / 3600).toFixed(2)} h, ${recording.analysis.transcript!.words.length} words, ${scriptWords} in the script`;
  console.log(`${label}: ${times.map((time) => time.toFixed(2)).join(", ")} s of processor time`);
}
process.exit(0);

function createLines(words: number): string[] {
  let state = 7;
  const draw = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: Math.ceil(words / WORDS_PER_LINE) }, () =>
    Array.from({ length: WORDS_PER_LINE }, () => vocabulary[Math.floor(draw() ** 2 * vocabulary.length)]!).join(" "),
  );
}

/**
 * A line, and the pause after it. Every tenth is broken off and said again, so that the recording is as long as speech.
 */
function toMoments(line: string, i: number): Moment[] {
  const words = line.split(" ");
  return i % 10 === 0 ? [words.slice(0, 6).join(" "), 0.7, line, 0.9] : [line, 0.9];
}

async function measure(recording: TestRecording, script: string): Promise<number> {
  let engine = 0;
  const uncounted =
    <Request, Result>(answer: (requests: Request[]) => Promise<Result[]>) =>
    async (requests: Request[]) => {
      const before = process.cpuUsage();
      const results = await answer(requests);
      const { user, system } = process.cpuUsage(before);
      engine += user + system;
      return results;
    };
  const input = audioPlanInput(recording);
  const started = process.cpuUsage();
  await planCut({
    ...input,
    script,
    forcedAlign: uncounted(input.forcedAlign),
    recognize: uncounted(input.recognize),
    measureVoices: uncounted(input.measureVoices),
    compareAudio: uncounted(input.compareAudio),
  });
  const { user, system } = process.cpuUsage(started);
  return (user + system - engine) / 1e6;
}
