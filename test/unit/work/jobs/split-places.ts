/**
 * Places for the pieces of a render. Each has its own folder with its own copy of the source, as another machine has.
 */
import { copyFile, mkdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import { type OutputRequest, resolveOutput } from "../../../../src/domain/render-output";
import { createSemaphore } from "../../../../src/lib/semaphore";
import type { Ffmpeg } from "../../../../src/media/ffmpeg";
import { writeProbed } from "../../../../src/work/assets/prepared-files";
import type { RunContext } from "../../../../src/work/jobs/definition";
import type { RenderInput } from "../../../../src/work/jobs/render-run";
import { bundledJobCommand } from "../../../http/job-command";
import { aac, audioInput, bundledFfmpeg, generate, h264, runTool, videoInput } from "../../media/generated-media";
import { probeFile, toSnappedSegments } from "../../media/rendering";

const SECONDS = 60;
/** 42 seconds. */
const KEPT = [
  [0.7, 14.6],
  [16, 30],
  [32.5, 47],
] as const;

/** Returns the rendered clip of a minute with audio, and the input of its render. */
export async function createRender(output: OutputRequest = { video_bitrate: 100_000 }) {
  const path = await generate(
    "minute.mp4",
    ...videoInput("30", SECONDS, "320x96"),
    ...audioInput(48_000, 2, SECONDS),
    ...h264(60),
    ...aac,
  );
  const probed = await probeFile(path);
  const resolved = resolveOutput(probed, output);
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.errors));
  const segments = toSnappedSegments(probed, KEPT);
  const plan = {
    segments: segments.map(({ start, end, startFrame, endFrame }) => ({
      start: start / 1e6,
      end: end / 1e6,
      start_frame: startFrame,
      end_frame: endFrame,
    })),
  };
  const input: RenderInput = {
    blobs: { source: { name: "source", bytes: Bun.file(path).size }, probed: { name: "probed.json", bytes: 0 } },
    plan: JSON.stringify(plan),
    output: resolved.output,
    duration: probed.info.duration,
  };
  return { path, probed, segments, input };
}

const JOB_COMMAND = await bundledJobCommand();

/** Tools of a machine. */
export const createTools = (ffmpeg: Ffmpeg = bundledFfmpeg) => ({
  ffmpeg,
  encoder: async () => "libx264" as const,
  encoders: async () => ({ video: ["libx264" as const], audio: ["aac" as const] }),
  encoderSemaphore: createSemaphore(2),
  sandbox: { mode: "none" as const, reason: "a test", wrap: (command: string[]) => command },
  jobCommand: JOB_COMMAND,
  maxFileBytes: () => null,
});

/** The number of cores, so that each chunk is encoded with one thread, as in a render at one place. */
export const SLOTS = navigator.hardwareConcurrency;

export type TestPlace = {
  dir: string;
  /** Returns the context of an execution with its own folders. */
  context(execution: string, more?: Partial<RunContext>): RunContext;
};

/** A modification time. Each place keeps only its whole seconds. */
const MODIFIED_AT = 1_700_000_000;

/**
 * Creates a place with a copy of the source. `fraction` differs between places: of the seconds of the time of
 * modification.
 */
export async function createPlace(
  dir: string,
  { path, probed }: Pick<Awaited<ReturnType<typeof createRender>>, "path" | "probed">,
  fraction: number,
): Promise<TestPlace> {
  const inputs = join(dir, "inputs");
  await mkdir(inputs, { recursive: true });
  await copyFile(path, join(inputs, "source"));
  await utimes(join(inputs, "source"), MODIFIED_AT, MODIFIED_AT + fraction);
  await writeProbed(join(inputs, "probed.json"), probed);
  return {
    dir,
    context: (execution, more = {}) => ({
      signal: new AbortController().signal,
      shouldYield: () => false,
      progress: () => {},
      log: () => {},
      owner: "workspace",
      getInputPath: (name) => join(inputs, name),
      outputDir: join(dir, execution, "outputs"),
      workDir: join(dir, execution, "work"),
      checkpoint: async () => {},
      ...more,
    }),
  };
}

/** Returns the hashes of all decoded frames and of the decoded audio. */
export async function hashContent(path: string): Promise<{ video: string[]; audio: string }> {
  const run = async (...options: string[]) => {
    const bytes = await runTool([bundledFfmpeg.path, "-v", "error", "-nostdin", "-i", path, ...options, "pipe:1"]);
    return new TextDecoder().decode(bytes);
  };
  const [frames, audio] = await Promise.all([
    run("-map", "0:v:0", "-vsync", "0", "-f", "framemd5"),
    run("-map", "0:a:0", "-f", "md5"),
  ]);
  return { video: frames.split("\n").filter((line) => line !== "" && !line.startsWith("#")), audio };
}
