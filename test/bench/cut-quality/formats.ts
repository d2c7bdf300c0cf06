/**
 * Cuts the same recordings from MP4, WAV and FLAC files at 44.1 and 48 kHz: `bun test/bench/cut-quality/formats.ts EXECUTABLE FILE…`. Prints how far
 * the edges of the plans are from those of the WAV file at 48 kHz, and the edges that other plans do not have. Fails above 20 ms.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { PlanJson } from "../../../src/domain/plan-json";

const MAX_DISTANCE_MS = 20;
const RATES = [48_000, 44_100];
const FORMATS = [
  { extension: "wav", encode: ["-c:a", "pcm_s16le"] },
  { extension: "flac", encode: ["-c:a", "flac", "-sample_fmt", "s16"] },
  { extension: "mp4", encode: ["-c:a", "aac", "-b:a", "160k"] },
] as const;

const [executable, ...files] = process.argv.slice(2);
if (!executable || files.length === 0) throw new Error("Usage: formats.ts EXECUTABLE FILE…");
const folder = await mkdtemp(join(tmpdir(), "offcut-formats-"));
let [worst, apart] = [0, 0];
for (const file of files) {
  let reference: number[] | null = null;
  for (const rate of RATES)
    for (const { extension, encode } of FORMATS) {
      const path = join(folder, `recording-${rate}.${extension}`);
      await run(["ffmpeg", "-v", "error", "-y", "-i", file, "-vn", "-ac", "1", "-ar", String(rate), ...encode, path]);
      const edges = await listEdges(path);
      reference ??= edges;
      const { distance, unmatched } = compare(edges, reference);
      worst = Math.max(worst, distance);
      apart += unmatched;
      console.log(
        `${basename(file)} ${extension} ${rate}: ${edges.length} edges, at most ${distance.toFixed(1)} ms away, ${unmatched} without a counterpart`,
      );
    }
}
await rm(folder, { recursive: true });
console.log(`At most ${worst.toFixed(1)} ms, ${apart} edges without a counterpart.`);
process.exit(worst <= MAX_DISTANCE_MS && apart === 0 ? 0 : 1);

async function run(command: string[]): Promise<void> {
  const child = Bun.spawn(command, {
    env: { ...process.env, OFFCUT_DATA_DIR: join(folder, "data") },
    stdout: "ignore",
    stderr: "pipe",
  });
  const error = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(error);
}

async function listEdges(path: string): Promise<number[]> {
  const plan = join(folder, "plan.json");
  await run([executable!, "cut", path, "--force", "--plan", plan, "-o", join(folder, "out.m4a")]);
  const made = (await Bun.file(plan).json()) as { plan?: PlanJson } & PlanJson;
  return (made.plan ?? made).segments.flatMap(({ start, end }) => [start, end]);
}

/** Edges within half a second belong to each other. */
function compare(edges: readonly number[], reference: readonly number[]): { distance: number; unmatched: number } {
  const toNearest = (edge: number, others: readonly number[]) =>
    others.reduce((nearest, other) => Math.min(nearest, Math.abs(other - edge)), Number.POSITIVE_INFINITY);
  const all = [...edges.map((edge) => toNearest(edge, reference)), ...reference.map((edge) => toNearest(edge, edges))];
  const matched = all.filter((distance) => distance < 0.5);
  return { distance: 1000 * Math.max(0, ...matched), unmatched: all.length - matched.length };
}
