import type { RunOptions } from "../job-child/child";
import { getTimeLimits } from "../job-child/limits";
import type { JobOperations } from "../job-child/operations";
import type { RunContext } from "./definition";
import type { RenderInput } from "./render-run";

/** The network may be slow, and the CPU time stays limited. */
const MAX_WAIT_SECONDS = 24 * 3600;

/** Opens the parts of the source that are missing here, if any are. */
export function openMissingParts({ source }: RenderInput["blobs"], context: RunContext) {
  const parts = context.findInputParts?.(source.name) ?? null;
  let waiting = 0;
  let waitedMs = 0;
  let sinceMs = 0;
  /** `range` comes from a process that reads what a user has uploaded: it is checked by `fetch`. */
  const fetchParts = async (range: { first: number; last: number }, cancelled: AbortSignal): Promise<void> => {
    if (waiting++ === 0) sinceMs = performance.now();
    try {
      await parts!.fetch(range, AbortSignal.any([context.signal, cancelled]));
    } finally {
      if (--waiting === 0) waitedMs += performance.now() - sinceMs;
    }
  };
  return {
    /** For the input of the operation. */
    incomplete: parts && { bytes: parts.bytes, modifiedAt: parts.modifiedAt, partBytes: parts.partBytes },
    /** Returns what the operation needs besides its other options. */
    getOptions: (
      operation: keyof JobOperations,
      { recordingSeconds }: { recordingSeconds: number },
    ): Pick<RunOptions, "callbacks" | "limits"> => {
      if (parts === null) return {};
      const { cpuSeconds, wallSeconds } = getTimeLimits(operation, recordingSeconds);
      return { callbacks: { fetchParts }, limits: { cpuSeconds, wallSeconds: wallSeconds + MAX_WAIT_SECONDS } };
    },
    /** Returns how long the child has waited. */
    waitedSeconds: () => waitedMs / 1000,
  };
}

export type MissingParts = ReturnType<typeof openMissingParts>;
