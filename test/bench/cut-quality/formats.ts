/**
 * Cuts the same recordings from WAV, FLAC and MP4 files at 48 and 44.1 kHz: `bun test/bench/cut-quality/formats.ts
 * [--stages] FILE…`. Prints the distances between the edges of the plans and those of the WAV file at 48 kHz, and edges
 * without a counterpart. Fails above 20 ms. `--stages` also prints how the audio, the voice activity and the words
 * differ.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { AppError } from "../../../src/domain/errors";
import { CUT_MODES, type Plan } from "../../../src/domain/plan";
import type { SpeechAnalysis } from "../../../src/domain/speech";
import { type Span, toSeconds } from "../../../src/domain/time";
import { extractAnalysisAudio } from "../../../src/media/analysis-audio";
import { allSamples } from "../../analysis-audio";
import { bundledFfmpeg } from "../../unit/media/generated-media";
import { probeFile } from "../../unit/media/rendering";
import { openModels, openPcm, planProbed } from "./recording";

const MAX_DISTANCE_MS = 20;
const RATES = [48_000, 44_100];
const FORMATS = [
  { extension: "wav", encode: ["-c:a", "pcm_s16le"] },
  { extension: "flac", encode: ["-c:a", "flac", "-sample_fmt", "s16"] },
  { extension: "mp4", encode: ["-c:a", "aac", "-b:a", "160k"] },
] as const;

/**
 * The compared data: the analysis audio, its analysis, and the edges of the plan in seconds. Without speech the plan is
 * null, and there are no edges.
 */
type Cut = { samples: Int16Array; analysis: SpeechAnalysis; plan: Plan | null; edges: number[] };

const { positionals: files, values } = parseArgs({ allowPositionals: true, options: { stages: { type: "boolean" } } });
if (files.length === 0) throw new Error("Usage: formats.ts [--stages] FILE…");
const models = await openModels();
const folder = await mkdtemp(join(tmpdir(), "offcut-formats-"));
let [worst, apart] = [0, 0];
for (const file of files) {
  const cuts: Cut[] = [];
  for (const rate of RATES)
    for (const { extension, encode } of FORMATS) {
      const path = join(folder, `recording-${rate}.${extension}`);
      run(["ffmpeg", "-v", "error", "-y", "-i", file, "-vn", "-ar", String(rate), ...encode, path]);
      const made = await cutFile(path, cuts);
      cuts.push(made);
      const reference = cuts[0]!;
      const { distance, unmatched } = compareEdges(made.edges, reference.edges);
      worst = Math.max(worst, distance);
      apart += unmatched.length;
      console.log(
        `${basename(file)} ${extension} ${rate}: ${made.edges.length} edges, at most ${distance.toFixed(1)} ms away, ${unmatched.length} without a counterpart`,
      );
      if (values.stages && made !== reference) printStages(made, reference, unmatched);
    }
}
await rm(folder, { recursive: true });
console.log(`At most ${worst.toFixed(1)} ms, ${apart} edges without a counterpart.`);
process.exit(worst <= MAX_DISTANCE_MS && apart === 0 ? 0 : 1);

function run(command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command, { stdout: "ignore", stderr: "pipe" });
  if (exitCode !== 0) throw new Error(stderr.toString());
}

/** Cuts a file, unless its audio is that of an earlier one. */
async function cutFile(path: string, earlier: readonly Cut[]): Promise<Cut> {
  const probed = await probeFile(path, bundledFfmpeg);
  const outputPath = join(folder, "speech.pcm");
  await extractAnalysisAudio({ ffmpeg: bundledFfmpeg, path, probed, outputPath });
  const samples = await allSamples(outputPath);
  const same = earlier.find((cut) => Buffer.from(cut.samples.buffer).equals(Buffer.from(samples.buffer)));
  if (same) return { ...same };
  const pcm = await openPcm(outputPath);
  const analysis = await models.analyze(pcm);
  const engine = models.openEngine(pcm, outputPath);
  const plan = await planProbed(analysis, probed, "", CUT_MODES.natural, engine).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "no_speech") return null;
    throw error;
  });
  await pcm.close();
  const edges = plan?.segments.flatMap(({ start, end }) => [toSeconds(start), toSeconds(end)]) ?? [];
  return { samples, analysis, plan, edges };
}

/** Edges within half a second belong to each other. */
function compareEdges(
  edges: readonly number[],
  reference: readonly number[],
): { distance: number; unmatched: number[] } {
  const toNearest = (edge: number, others: readonly number[]) => ({
    edge,
    distance: others.reduce((nearest, other) => Math.min(nearest, Math.abs(other - edge)), Number.POSITIVE_INFINITY),
  });
  const all = [...edges.map((edge) => toNearest(edge, reference)), ...reference.map((edge) => toNearest(edge, edges))];
  const matched = all.filter(({ distance }) => distance < 0.5);
  const unmatched = all.filter(({ distance }) => distance >= 0.5).map(({ edge }) => edge);
  return { distance: 1000 * Math.max(0, ...matched.map(({ distance }) => distance)), unmatched };
}

function printStages(made: Cut, reference: Cut, unmatched: readonly number[]): void {
  const { lag, noiseDb } = compareSamples(made.samples, reference.samples);
  console.log(`    audio: ${lag} samples late, difference ${noiseDb.toFixed(1)} dB below the signal`);
  const edgesOf = (spans: readonly Span[]) => spans.flatMap(({ start, end }) => [toSeconds(start), toSeconds(end)]);
  const format = ({ distance, unmatched: alone }: ReturnType<typeof compareEdges>) =>
    `at most ${distance.toFixed(1)} ms away, ${alone.length} without a counterpart ${alone.map((time) => time.toFixed(2)).join(" ")}`;
  console.log(
    `    voice activity: ${format(compareEdges(edgesOf(made.analysis.speech), edgesOf(reference.analysis.speech)))}`,
  );
  const [own, others] = [made, reference].map(({ analysis }) => analysis.transcript?.words ?? []);
  const toText = (words: typeof own) =>
    (words ?? []).map(({ text, start }) => `${text}@${toSeconds(start).toFixed(2)}`);
  const text = new Set(toText(others).map((word) => word.slice(0, word.lastIndexOf("@"))));
  console.log(
    `    words: ${own!.length} and ${others!.length}; new: ${toText(own)
      .filter((word) => !text.has(word.slice(0, word.lastIndexOf("@"))))
      .join(" ")}`,
  );
  console.log(`    word edges: ${format(compareEdges(edgesOf(own!), edgesOf(others!)))}`);
  const nearest = (edge: number, all: readonly number[]) =>
    all.reduce(
      (best, other) => (Math.abs(other - edge) < Math.abs(best - edge) ? other : best),
      Number.POSITIVE_INFINITY,
    );
  const moved = made.edges
    .map((edge) => [edge, nearest(edge, reference.edges)] as const)
    .filter(([edge, other]) => Math.abs(edge - other) > 0.02);
  console.log(`    moved: ${moved.map(([edge, other]) => `${other.toFixed(3)}→${edge.toFixed(3)}`).join(" ")}`);
  for (const [name, one, other] of [
    ["own", made, reference],
    ["reference", reference, made],
  ] as const)
    for (const { start, end, text, rule } of one.plan?.removed ?? []) {
      if (
        other.plan?.removed.some(
          (twin) => Math.abs(twin.start - start) < 20_000 && Math.abs(twin.end - end) < 20_000 && twin.rule === rule,
        )
      )
        continue;
      console.log(`    ${name}: ${toSeconds(start).toFixed(3)}-${toSeconds(end).toFixed(3)} ${rule} ${text}`);
    }
  for (const [n, word] of own!.entries()) {
    const twin =
      own!.length === others!.length
        ? others![n]!
        : others!.find((one) => one.text === word.text && Math.abs(one.start - word.start) < 500_000);
    if (!twin || (Math.abs(twin.start - word.start) <= 20_000 && Math.abs(twin.end - word.end) <= 20_000)) continue;
    console.log(
      `    word ${twin.text} ${toSeconds(twin.start).toFixed(3)}-${toSeconds(twin.end).toFixed(3)} → ${word.text} ${toSeconds(word.start).toFixed(3)}-${toSeconds(word.end).toFixed(3)}`,
    );
  }
  if (unmatched.length > 0) console.log(`    alone: ${unmatched.map((time) => time.toFixed(3)).join(" ")}`);
}

/**
 * Returns by how many samples audio is late, and the level of its difference to the reference below the level of the
 * reference.
 */
function compareSamples(samples: Int16Array, reference: Int16Array): { lag: number; noiseDb: number } {
  const difference = (lag: number) => {
    let [noise, signal] = [0, 0];
    for (let n = 1000; n < Math.min(samples.length, reference.length) - 1000; n++) {
      noise += (samples[n + lag]! - reference[n]!) ** 2;
      signal += reference[n]! ** 2;
    }
    return 10 * Math.log10(signal / Math.max(1, noise));
  };
  const lags = Array.from({ length: 65 }, (_, n) => n - 32).map((lag) => ({ lag, noiseDb: difference(lag) }));
  return lags.reduce((best, one) => (one.noiseDb > best.noiseDb ? one : best));
}
