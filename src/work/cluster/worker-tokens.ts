/**
 * Join tokens of workers: each is for one worker, shown once, stored as a hash and revocable. Also drains and revokes
 * workers.
 */
import { AppError, badRequest, conflict, notFound } from "../../domain/errors";
import { isEqualSecret, sha256 } from "../../lib/hash";
import { newId, randomToken } from "../../lib/ids";
import type { Queries } from "../../store/db";
import {
  countWorkerTokens,
  findValidWorkerToken,
  findWorker,
  findWorkerToken,
  insertWorkerToken,
  listWorkerTokens,
  revokeWorkerToken,
  setWorkerDraining,
  type TokenWithWorker,
  type WorkerToken,
} from "../../store/workers";
import { type AuditActor, recordAudit } from "../access/audit";
import { requireActingAdmin } from "../identity/administrators";
import type { CoreNeeds } from "../needs";
import type { WorkerNeeds } from "./worker-list";

const TOKEN_PREFIX = "wt_";
const TOKEN_CHARACTERS = 43;
/** Longer texts are not tokens, and are not hashed. */
const MAX_TOKEN_CHARACTERS = 256;
const MAX_TOKENS = 200;

/** Names are also arguments of shell commands, and the names of workers in lists. */
export const WORKER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
export const WORKER_NAME_RULE =
  "1 to 63 letters, digits, dots, hyphens or underscores, and start with a letter or a digit";

export async function authenticateWorker({ store }: CoreNeeds, token: string): Promise<WorkerToken | null> {
  if (!token.startsWith(TOKEN_PREFIX) || token.length > MAX_TOKEN_CHARACTERS) return null;
  const hash = sha256(token);
  const row = await findValidWorkerToken(store.read, hash);
  return row !== null && isEqualSecret(hash, row.hash) ? row : null;
}

/** Returns a token as the command line shows it. `worker_id` null: no worker has joined with it. Times in ISO 8601. */
export const toTokenView = ({ token, workerId }: TokenWithWorker) => ({
  id: token.id,
  name: token.name,
  worker_id: workerId,
  created_at: new Date(token.created_at).toISOString(),
  last_used_at: token.last_used_at === null ? null : new Date(token.last_used_at).toISOString(),
});
export type WorkerTokenView = ReturnType<typeof toTokenView>;

/** Lists the tokens that are not revoked, by name. */
export const listTokenViews = async (db: Queries): Promise<WorkerTokenView[]> =>
  (await listWorkerTokens(db, { limit: MAX_TOKENS, offset: 0 })).rows.map(toTokenView);

/**
 * Creates a token, part of a transaction. Only the returned `secret` contains it. Throws `AppError` `bad_request` for
 * an invalid name; `conflict` when another valid token has the name, or there are too many; `forbidden`.
 */
export async function createWorkerToken(tx: Queries, actor: AuditActor, name: string, now: number) {
  await requireActingAdmin(tx, actor);
  if (!WORKER_NAME.test(name)) throw badRequest(`Name must be ${WORKER_NAME_RULE}.`);
  if ((await findWorkerToken(tx, { name })) !== null)
    throw conflict(`A join token with the name "${name}" exists. Choose another name, or revoke that token.`);
  if ((await countWorkerTokens(tx)) >= MAX_TOKENS)
    throw conflict(`The server has ${MAX_TOKENS} join tokens. Revoke one first.`);
  const secret = `${TOKEN_PREFIX}${randomToken(TOKEN_CHARACTERS)}`;
  const token = await insertWorkerToken(tx, { id: newId(), name, hash: sha256(secret), created_at: now });
  const target = { kind: "worker_token", id: token.id };
  await recordAudit(tx, actor, { action: "worker_token.created", target, details: { name } }, now);
  return { token, secret };
}

/**
 * Revokes a token. Its worker is rejected from now on, and its jobs are requeued. Errors: `not_found` when no valid
 * token has this name or ID, `forbidden`.
 */
export async function revokeToken(
  services: WorkerNeeds,
  actor: AuditActor,
  by: { name: string } | { id: string },
): Promise<WorkerToken> {
  const now = services.now();
  const revoked = await services.store.write(async (tx) => {
    await requireActingAdmin(tx, actor);
    const found = await findWorkerToken(tx, by);
    const token = found && (await revokeWorkerToken(tx, found.id, now));
    if (!token) {
      const isNamed = "name" in by;
      throw new AppError(
        "not_found",
        isNamed
          ? `Join token "${by.name}" not found. offcut worker token list shows the names.`
          : "Join token not found.",
      );
    }
    const target = { kind: "worker_token", id: token.id };
    await recordAudit(tx, actor, { action: "worker_token.revoked", target, details: { name: token.name } }, now);
    return token;
  });
  services.workerList.removeRevoked(revoked.id);
  return revoked;
}

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
    if (!found) throw notFound("Worker");
    const { worker, revokedAt } = found;
    if (revokedAt !== null) throw conflict(`Worker ${worker.name} was revoked.`);
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
  if (!found) throw notFound("Worker");
  if (found.revokedAt !== null) throw conflict(`Worker ${found.worker.name} was revoked.`);
  await revokeToken(services, actor, { id: found.worker.token_id });
}
