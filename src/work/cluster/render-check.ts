/** Checks the file of a render that a worker has made. A child process reads it: a hijacked worker may have chosen every byte. */
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { toSeconds } from "../../domain/time";
import { openPlanChild } from "../job-child/plan-child";
import type { MediaTools } from "../jobs/media-tools";
import type { RenderInput } from "../jobs/render-run";
import { InvalidResultError } from "./result-shapes";

/** Where the render reads its source, and its file. */
type CheckedRender = { inputDir: string; path: string; signal: AbortSignal };

/**
 * Returns the number of frames of the file's video. Removes a file that is not what was asked for, and throws `InvalidResultError`. Other errors:
 * `JobKilled`; the signal's reason.
 */
export async function requireRenderedFile(
  tools: Pick<MediaTools, "jobCommand" | "sandbox">,
  { blobs, plan, output, duration }: RenderInput,
  { inputDir, path, signal }: CheckedRender,
): Promise<number> {
  const probed = join(inputDir, blobs.probed.name);
  await using child = openPlanChild(tools, [probed, dirname(path)]);
  const { problem, frames } = await child.run(
    "checkRender",
    { probed, plan, output, path },
    { signal, recordingSeconds: toSeconds(duration) },
  );
  if (problem === null) return frames;
  await rm(path, { force: true });
  throw new InvalidResultError(problem);
}
