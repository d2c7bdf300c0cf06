/** The child process that plans, edits or exports a cut. It reads the asset's files and writes nothing. */
import type { MediaTools } from "../jobs/media-tools";
import { type JobChild, openRunChild } from "./child";
import { MAX_PLAN_MEMORY_BYTES } from "./limits";

/** Starts the child. It can read the files and folders in `readOnly`, which must exist. */
export const openPlanChild = (
  tools: Pick<MediaTools, "jobCommand" | "sandbox" | "sharedChild">,
  readOnly: string[],
): JobChild =>
  openRunChild(tools.sharedChild, {
    command: tools.jobCommand,
    sandbox: tools.sandbox,
    view: { readOnly, writable: [], devices: false },
    limitCode: "processing_failed",
    maxMemoryBytes: MAX_PLAN_MEMORY_BYTES,
    maxFileBytes: null,
  });
