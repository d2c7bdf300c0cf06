/** What the server does at its start and every hour: recovers from a crash, removes what has expired. */
import { emptyTrash } from "../blobs/trash";
import { deleteExpiredSessions } from "../store/sessions";
import { requeueInterruptedSteps } from "../store/steps";
import { sweepOrphans } from "./orphans";
import { reconcileDerivatives } from "./prepared-size";
import type { Services } from "./services";
import { recoverUploads } from "./uploads";

type RecoveryServices = Pick<Services, "folders" | "log" | "now" | "runner" | "store">;

/** Recovers from a crash or a stop: requeues interrupted steps, starts the preparation of complete uploads, removes orphaned files. */
export async function recover(services: RecoveryServices): Promise<void> {
  const requeued = await services.store.write((tx) => requeueInterruptedSteps(tx, services.now()));
  if (requeued > 0) services.log.warn("jobs.requeued_after_unclean_exit", { jobs: requeued });
  await sweep(services);
  void reconcileDerivatives(services).catch((error) => services.log.warn("derivatives.measure_failed", { error }));
  void emptyTrash(services.folders).catch((error) => services.log.warn("trash.empty_failed", { error }));
}

/** Handles complete and expired uploads, and removes orphaned files and expired rows. */
export async function sweep(services: RecoveryServices): Promise<void> {
  await recoverUploads(services);
  await sweepOrphans(services);
  await services.store.write((tx) => deleteExpiredSessions(tx, services.now()));
}
