/**
 * The child process that the jobs of a tested server share, as those of `offcut cut` do. Starting one for each job
 * takes half of the processor time of a preparation, and four fifths of that of a cut. The executable's servers, in
 * `test/e2e` and `test/attacks`, start one for each.
 */
import { type JobChild, openJobChild, type SharedJobChild } from "../../src/work/job-child/child";
import { MAX_PLAN_MEMORY_BYTES } from "../../src/work/job-child/limits";
import type { MediaTools } from "../../src/work/jobs/media-tools";

type Shared = { child: SharedJobChild; users: number };

/** Replaces the shared child of a server that still runs. */
const replacements = new Set<() => void>();

/**
 * Replaces the children of all servers in this process for their next jobs. Call it when one has stopped: that ends all
 * children of the process.
 */
export function replaceSharedChildren(): void {
  for (const replace of replacements) replace();
}

/**
 * Returns a child that starts on first use and may write in these folders. After a failed operation, later jobs get a
 * new process.
 */
export function createSharedChild(
  tools: Pick<MediaTools, "jobCommand" | "maxFileBytes" | "sandbox">,
  writable: string[],
): Pick<SharedJobChild, "lend" | "end"> {
  const open = new Set<Shared>();
  let current: Shared | null = null;

  const start = (): Shared => {
    const child = openJobChild({
      command: tools.jobCommand,
      sandbox: tools.sandbox,
      view: { readOnly: [], writable, devices: false },
      limitCode: "processing_failed",
      maxMemoryBytes: MAX_PLAN_MEMORY_BYTES,
      maxFileBytes: tools.maxFileBytes(),
    });
    const shared = { child, users: 0 };
    open.add(shared);
    return shared;
  };
  const end = async (shared: Shared) => {
    open.delete(shared);
    await shared.child.end();
  };

  const replace = () => {
    current = null;
  };
  replacements.add(replace);

  return {
    lend: (limitCode) => {
      current ??= start();
      const shared = current;
      const lent = shared.child.lend(limitCode);
      let isUsing = true;
      shared.users++;
      const leave = async () => {
        if (!isUsing) return;
        isUsing = false;
        shared.users--;
        if (shared !== current && shared.users === 0) await end(shared);
      };
      return {
        run: (async (...call: Parameters<JobChild["run"]>) => {
          try {
            return await lent.run(...call);
          } catch (error) {
            if (current === shared) current = null;
            throw error;
          }
        }) as JobChild["run"],
        end: leave,
        [Symbol.asyncDispose]: leave,
      };
    },
    end: async () => {
      replacements.delete(replace);
      current = null;
      await Promise.all([...open].map(end));
    },
  };
}
