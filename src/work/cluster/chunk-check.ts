/** Checks files of split renders from other machines in a child process. */
import type { DecodedPart, ExpectedChunk } from "../../media/chunks/check";
import { type JobChild, openJobChild } from "../job-child/child";
import { MAX_PLAN_MEMORY_BYTES } from "../job-child/limits";
import type { MediaTools } from "../jobs/media-tools";

/** How much of the file is decoded. */
export type CheckOptions = { decode: DecodedPart; signal: AbortSignal };

export type ChunkChecker = AsyncDisposable & {
  /** Returns the problem of a file in the folder; null if it is valid. Errors: the signal's reason. */
  check(path: string, expected: ExpectedChunk, options: CheckOptions): Promise<string | null>;
};

/** Creates a checker for the files in a folder. The first check starts its child; one that ended is replaced. */
export function createChunkChecker(
  tools: Pick<MediaTools, "ffmpeg" | "jobCommand" | "sandbox">,
  folder: string,
): ChunkChecker {
  let child: JobChild | null = null;

  const open = (): JobChild =>
    openJobChild({
      command: tools.jobCommand,
      sandbox: tools.sandbox,
      view: { readOnly: [folder], writable: [], devices: false },
      limitCode: "processing_failed",
      maxMemoryBytes: MAX_PLAN_MEMORY_BYTES,
      maxFileBytes: null,
    });

  async function check(path: string, expected: ExpectedChunk, { decode, signal }: CheckOptions) {
    const run = (at: JobChild) => at.run("checkChunk", { ffmpeg: tools.ffmpeg, path, expected, decode }, { signal });
    child ??= open();
    const used = child;
    try {
      return await run(used);
    } catch {
      signal.throwIfAborted();
      if (child === used) child = null;
      await used.end();
    }
    // Another file may have brought the child to its limits, or down: this one is checked again on its own.
    await using own = open();
    try {
      return await run(own);
    } catch (error) {
      signal.throwIfAborted();
      return `The check failed: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  return {
    check,
    [Symbol.asyncDispose]: async () => {
      await child?.end();
    },
  };
}
