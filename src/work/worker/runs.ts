/** Functions with which a worker runs each kind of execution, the same as on the head. */
import type { ExecutionKind } from "../../domain/workers";
import { runCut } from "../jobs/cut-run";
import type { JobOutput, RunContext } from "../jobs/definition";
import type { MediaTools } from "../jobs/media-tools";
import { runPrepare } from "../jobs/prepare-run";
import { runRender } from "../jobs/render-run";
import { type ChunkInput, runChunk, runSplit } from "../jobs/split-run";

type ExecutionRun = {
  /** The input comes from the head's `load`, and the result goes to its `settle`: neither is read here. */
  run(tools: MediaTools, input: never, context: RunContext<JobOutput>): Promise<JobOutput>;
  /** Whether it reads parts of the source only, which are fetched when they are needed. */
  readsParts(input: never): boolean;
};

const never = () => false;

export const EXECUTION_RUNS: Record<ExecutionKind, ExecutionRun> = {
  prepare: { run: runPrepare, readsParts: never },
  cut: { run: runCut, readsParts: never },
  render: { run: runRender, readsParts: never },
  split: { run: runSplit, readsParts: () => true },
  chunk: { run: runChunk, readsParts: ({ piece }: ChunkInput) => piece.kind === "video" },
  join: { run: runRender, readsParts: never },
};
