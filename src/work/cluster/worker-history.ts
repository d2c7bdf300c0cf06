/** The runs of workers. Ended runs are kept in memory until they are saved. */
import type { Queries, Store } from "../../store/db";
import { listUnendedStepIds } from "../../store/steps";
import { insertWorkerRuns, listRunsOf, listWorkerRuns, type WorkerRun } from "../../store/workers";

/** Maximum number of unsaved runs to keep if the database fails. */
const MAX_UNSAVED_RUNS = 2_000;
const MAX_SHOWN_RUNS = 200;

export function createWorkerHistory(store: Store) {
  let unsaved: WorkerRun[] = [];
  return {
    add: (run: WorkerRun) => {
      unsaved.push(run);
      if (unsaved.length > MAX_UNSAVED_RUNS) unsaved.shift();
    },
    isUnsaved: () => unsaved.length > 0,
    /** Saves what is not saved yet, in one transaction with `others`. */
    save: async (others: (tx: Queries) => Promise<void>) => {
      const runs = [...unsaved];
      await store.write(async (tx) => {
        await others(tx);
        await insertWorkerRuns(tx, runs);
      });
      unsaved = unsaved.filter((run) => !runs.includes(run));
    },
    /** Lists the runs of a worker, latest first. */
    list: async (workerId: string) => {
      const recent = unsaved.filter((run) => run.worker_id === workerId).reverse();
      const stored = await listWorkerRuns(store.read, workerId, MAX_SHOWN_RUNS);
      // Runs that are being saved are in both.
      const others = stored.filter((run) => !recent.some((one) => one.id === run.id));
      return [...recent, ...others].slice(0, MAX_SHOWN_RUNS);
    },
    /** Returns those of the executions that this worker has ended and whose steps have ended too, or were deleted. */
    findEnded: async (workerId: string, executions: string[]) => {
      const recent = unsaved.filter((run) => run.worker_id === workerId && executions.includes(run.id));
      const runs = [...recent, ...(await listRunsOf(store.read, workerId, executions))];
      const stepIds = [...new Set(runs.map((run) => run.step_id))];
      const unended = await listUnendedStepIds(store.read, stepIds);
      return [...new Set(runs.filter((run) => !unended.includes(run.step_id)).map((run) => run.id))];
    },
  };
}
