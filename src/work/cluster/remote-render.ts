/**
 * Checks the file of a render that a worker has made. A child process reads it: a hijacked worker may have chosen every
 * byte.
 */
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { toSeconds } from "../../domain/time";
import { openPlanChild } from "../job-child/plan-child";
import { findBlob } from "../jobs/blob-files";
import type { LoadedJob } from "../jobs/definition";
import type { MediaTools } from "../jobs/media-tools";
import type { RenderInput, RenderOutput } from "../jobs/render-run";
import { InvalidResultError, parseRenderFacts } from "./result-shapes";

/**
 * Returns the output of a render whose file is at `path`, and the number of frames of its video. Only the file that has
 * arrived counts, not what the worker says. Removes one that is not what was asked for, and throws
 * `InvalidResultError`. Other errors: `JobKilled`; the signal's reason.
 */
export async function finishRender(
  tools: Pick<MediaTools, "jobCommand" | "sandbox">,
  { input: { blobs, plan, output, duration }, inputDir }: Pick<LoadedJob<RenderInput>, "input" | "inputDir">,
  { path, signal }: { path: string; signal: AbortSignal },
  sent: unknown,
): Promise<{ output: RenderOutput; frames: number }> {
  const facts = parseRenderFacts(sent);
  const blob = await findBlob(path);
  if (blob === null || blob.bytes === 0) throw new InvalidResultError("the rendered file is missing");
  const probed = join(inputDir, blobs.probed.name);
  await using child = openPlanChild(tools, [probed, dirname(path)]);
  const options = { signal, recordingSeconds: toSeconds(duration) };
  const { problem, frames } = await child.run("checkRender", { probed, plan, output, path }, options);
  if (problem === null) return { output: { blobs: [blob], ...facts }, frames };
  await rm(path, { force: true });
  throw new InvalidResultError(problem);
}
