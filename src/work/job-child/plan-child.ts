/** The options of child processes: those that read a source, and those that only read files of a preparation. */
import type { MediaTools } from "../jobs/media-tools";
import { type JobChild, type JobChildOptions, openRunChild } from "./child";
import { getMaxMediaMemoryBytes, MAX_PLAN_MEMORY_BYTES } from "./limits";

type ChildTools = Pick<MediaTools, "jobCommand" | "sandbox">;

/** Returns the options of a child that reads a source of this size, but for its view of the file system. */
export const toMediaOptions = (
  { jobCommand, sandbox, maxFileBytes }: ChildTools & Pick<MediaTools, "maxFileBytes">,
  sourceBytes: number,
): Omit<JobChildOptions, "view"> => ({
  command: jobCommand,
  sandbox,
  limitCode: "processing_failed",
  maxMemoryBytes: getMaxMediaMemoryBytes(sourceBytes),
  maxFileBytes: maxFileBytes(),
});

/** Returns the options of a child that can read the files and folders in `readOnly`, which must exist. */
export const toReaderOptions = ({ jobCommand, sandbox }: ChildTools, readOnly: string[]): JobChildOptions => ({
  command: jobCommand,
  sandbox,
  view: { readOnly, writable: [], devices: false },
  limitCode: "processing_failed",
  maxMemoryBytes: MAX_PLAN_MEMORY_BYTES,
  maxFileBytes: null,
});

/** Starts the child that plans, edits or exports a cut. */
export const openPlanChild = (tools: ChildTools & Pick<MediaTools, "sharedChild">, readOnly: string[]): JobChild =>
  openRunChild(tools.sharedChild, toReaderOptions(tools, readOnly));
