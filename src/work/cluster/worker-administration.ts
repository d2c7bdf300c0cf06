/** Worker administration. Each function writes to the audit log in the transaction of its change. */
import { AppError } from "../../domain/errors";
import { findWorker, setWorkerDraining } from "../../store/workers";
import { type AuditActor, recordAudit } from "../access/audit";
import { requireActingAdmin } from "../identity/administrators";
import type { WorkerNeeds } from "./worker-list";
import { revokeToken } from "./worker-tokens";

/**
 * Drains a worker, which finishes its current work and accepts nothing new, or resumes it. Errors: `not_found`,
 * `forbidden`; `conflict` once it is revoked.
 */
export async function setDraining(
  { store, now, workerList }: WorkerNeeds,
  actor: AuditActor,
  id: string,
  isDraining: boolean,
): Promise<void> {
  await store.write(async (tx) => {
    await requireActingAdmin(tx, actor);
    const found = await findWorker(tx, id);
    if (!found) throw new AppError("not_found", "Worker not found.");
    const { worker, revokedAt } = found;
    if (revokedAt !== null) throw new AppError("conflict", `Worker ${worker.name} was revoked.`);
    if (worker.is_draining === isDraining) return;
    await setWorkerDraining(tx, id, isDraining);
    const action = isDraining ? "worker.drained" : "worker.resumed";
    await recordAudit(tx, actor, { action, target: { kind: "worker", id }, details: { name: worker.name } }, now());
  });
  workerList.setDraining(id, isDraining);
}

/** Revokes the join token of a worker. Errors: `not_found`, `forbidden`; `conflict` once it is revoked. */
export async function revokeWorker(services: WorkerNeeds, actor: AuditActor, id: string): Promise<void> {
  const found = await findWorker(services.store.read, id);
  if (!found) throw new AppError("not_found", "Worker not found.");
  if (found.revokedAt !== null) throw new AppError("conflict", `Worker ${found.worker.name} was revoked.`);
  await revokeToken(services, actor, { id: found.worker.token_id });
}
