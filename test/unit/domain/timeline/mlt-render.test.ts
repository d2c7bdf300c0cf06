/**
 * The MLT export, rendered with `melt` (Debian: `apt-get install melt`): the number drawn into each source frame is
 * read back from the result. Without `melt` these tests are skipped, but never in CI.
 */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ExportLayout, exportTimeline } from "../../../../src/domain/timeline";
import { constantFrames, mediaInfo, planOf, RATES } from "./sources";

const isMissing = Bun.which("melt") === null && !process.env.CI;
const why = isMissing ? " (skipped: melt is not installed)" : "";

const [WIDTH, HEIGHT, BITS] = [160, 90, 10];
const COUNT = 240;
const NAME = "2: two words & <more> 🎬 100%20.mp4";
const folder = mkdtempSync(join(tmpdir(), "offcut-mlt-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** One-frame segments, neighbors, jumps far across keyframes. */
const STRETCHES = [
  { keep: false, frames: 7 },
  { keep: true, frames: 40 },
  { keep: false, frames: 1 },
  { keep: true, frames: 1 },
  { keep: false, frames: 3 },
  { keep: true, frames: 30 },
  { keep: false, frames: 100 },
  { keep: true, frames: 58 },
];

const HANGS_AFTER_MS = 15_000;
const TRIES = 5;
/** The first bytes of a Matroska file. */
const EBML_HEADER = "1a45dfa3";

/** `melt` occasionally deadlocks. It is then killed and started again. */
async function run(...command: string[]): Promise<Uint8Array> {
  for (let attempt = 1; ; attempt++) {
    const patience = { timeout: HANGS_AFTER_MS, killSignal: "SIGKILL" } as const;
    const child = Bun.spawn(command, { cwd: folder, stdin: "ignore", stdout: "pipe", stderr: "pipe", ...patience });
    const [bytes, errors] = await Promise.all([new Response(child.stdout).bytes(), new Response(child.stderr).text()]);
    const code = await child.exited;
    if (code === 0) return bytes;
    if (child.signalCode !== "SIGKILL" || attempt === TRIES) throw new Error(`${command[0]}: ${errors}`);
  }
}

const isMatroska = async (path: string): Promise<boolean> =>
  (
    await Bun.file(path)
      .slice(0, EBML_HEADER.length / 2)
      .bytes()
  ).toHex() === EBML_HEADER;

const decode = (file: string, ...to: string[]) => run("ffmpeg", "-v", "error", "-i", file, ...to, "-");

/** Generates a video whose frames show their numbers as bars, with a steady tone. */
async function makeFilm(rate: { num: number; den: number }): Promise<void> {
  const raw = new Uint8Array(WIDTH * HEIGHT * COUNT);
  for (let i = 0; i < raw.length; i++) {
    const bit = Math.floor((i % WIDTH) / (WIDTH / BITS));
    raw[i] = (Math.floor(i / (WIDTH * HEIGHT)) >> bit) & 1 ? 220 : 60;
  }
  await Bun.write(join(folder, "film.gray"), raw);
  const rawVideo = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", `${WIDTH}x${HEIGHT}`, "-r", `${rate.num}/${rate.den}`];
  const tone = ["-f", "lavfi", "-i", `sine=frequency=440:sample_rate=48000:duration=${(COUNT * rate.den) / rate.num}`];
  const codecs = ["-c:v", "libx264", "-g", "60", "-bf", "2", "-crf", "12", "-pix_fmt", "yuv420p", "-c:a", "aac"];
  await run("ffmpeg", "-v", "error", "-y", ...rawVideo, "-i", "film.gray", ...tone, ...codecs, `./${NAME}`);
}

/** Returns the number in each frame; -1 for black. */
async function numbersIn(file: string): Promise<number[]> {
  const raw = await decode(file, "-an", "-f", "rawvideo", "-pix_fmt", "gray");
  return Array.from({ length: raw.length / (WIDTH * HEIGHT) }, (_, frame) => {
    const row = frame * WIDTH * HEIGHT + (HEIGHT / 2) * WIDTH;
    const bars = Array.from({ length: BITS }, (_, bit) => raw[row + (bit + 0.5) * (WIDTH / BITS)]!);
    return Math.max(...bars) < 40 ? -1 : bars.reduce((sum, level, bit) => sum + (level > 140 ? 2 ** bit : 0), 0);
  });
}

const expected = (layout: ExportLayout): number[] => {
  let at = 0;
  return STRETCHES.flatMap(({ keep, frames }) => {
    const numbers = Array.from({ length: frames }, (_, i) => (keep ? at + i : -1));
    at += frames;
    return keep || layout === "review" ? numbers : [];
  });
};

for (const name of ["25", "29.97"]) {
  const rate = RATES[name]!;
  const frames = constantFrames(rate, COUNT);
  const takes = [
    {
      line: "Again.",
      chosen: 1,
      candidates: [
        { start: 3, end: 4, score: 0.4, complete: false },
        { start: (182 * rate.den) / rate.num, end: (240 * rate.den) / rate.num, score: 0.9, complete: true },
      ],
    },
  ];
  const plan = planOf(STRETCHES, frames, takes);
  const info = mediaInfo({ rate, channels: 1, timecode: "10:00:00:00", seconds: plan.source_duration });
  info.video = { ...info.video!, width: WIDTH, height: HEIGHT };

  let film: Promise<void> | null = null;

  /** Renders the export, which is in the folder of the video. */
  async function render(layout: ExportLayout): Promise<string> {
    film ??= makeFilm(rate);
    await film;
    const options = { format: "mlt" as const, layout, mediaRoot: null, frameRate: null, dropFrame: null };
    const result = exportTimeline({ plan, info, frames, name: NAME }, options);
    if (!result.ok) throw new Error(result.reason);
    await Bun.write(join(folder, `${layout}.mlt`), result.body);
    const output = `${layout}.${name}.mkv`;
    const consumer = ["-consumer", `avformat:${output}`, "vcodec=ffv1", "acodec=pcm_s16le", "real_time=-1"];
    // `melt` occasionally exits with 0 and without a complete file.
    for (let attempt = 1; attempt <= TRIES; attempt++) {
      await run("melt", `${layout}.mlt`, ...consumer);
      if (await isMatroska(join(folder, output))) return output;
    }
    throw new Error(`melt wrote no Matroska file in ${TRIES} runs`);
  }

  test.skipIf(isMissing)(
    `melt renders the tight layout frame by frame at ${name}${why}`,
    async () => {
      expect(await numbersIn(await render("tight"))).toEqual(expected("tight"));
    },
    120_000,
  );

  test.skipIf(isMissing)(
    `melt shows nothing and plays nothing where the review layout disables, at ${name}${why}`,
    async () => {
      const output = await render("review");
      expect(await numbersIn(output)).toEqual(expected("review"));
      const bytes = await decode(output, "-vn", "-ac", "1", "-ar", "48000", "-f", "s16le");
      const samples = new Int16Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 2));
      const loudest = (frame: number) => {
        const from = Math.round((frame * 48_000 * rate.den) / rate.num);
        return Math.max(...samples.subarray(from, from + 4800).map(Math.abs));
      };
      expect(loudest(20)).toBeGreaterThan(1000);
      expect(loudest(120)).toBe(0);
      expect(loudest(200)).toBeGreaterThan(1000);
    },
    120_000,
  );
}
