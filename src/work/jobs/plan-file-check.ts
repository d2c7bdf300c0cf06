/**
 * Checks an uploaded plan of a cut. The text is parsed in a child process, because its author may have chosen every
 * byte of it.
 */
import { AppError } from "../../domain/errors";
import { MAX_PLAN_FILE_BYTES } from "../../domain/plan-file";
import { openJobChild } from "../job-child/child";
import { toReaderOptions } from "../job-child/plan-child";
import type { BlobRef, RunContext } from "./definition";
import type { MediaTools } from "./media-tools";

/**
 * Returns the seconds that the plan keeps. Errors: `AppError` `unsupported_media` when the file is not a plan; the
 * signal's reason when aborted.
 */
export async function checkPlanFile(
  tools: Pick<MediaTools, "jobCommand" | "sandbox">,
  source: BlobRef,
  { signal, getInputPath }: Pick<RunContext, "getInputPath" | "signal">,
): Promise<number> {
  if (source.bytes > MAX_PLAN_FILE_BYTES)
    throw new AppError("unsupported_media", `Cut file must be at most ${MAX_PLAN_FILE_BYTES} bytes.`);
  const path = getInputPath(source.name);
  await using child = openJobChild({ ...toReaderOptions(tools, [path]), limitCode: "unsupported_media" });
  return await child.run("checkPlan", { path }, { signal });
}
