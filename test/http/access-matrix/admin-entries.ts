/** The entries of administration, and of the deletion of accounts. */
import { NO_ID } from "../outcome";
import { joinWorker } from "../workers";
import { type Entry, newAddress } from "./entries";
import type { Fixtures } from "./fixtures";

const newAccount = async ({ server }: Fixtures): Promise<Record<string, string>> => ({
  user_id: (await server.user(0)).userId,
});

async function newWorker({ server, next }: Fixtures): Promise<Record<string, string>> {
  const { worker, token } = await joinWorker(server.services(), `worker-${next()}`);
  return { worker_id: worker.id, token_id: token.id };
}

export const ADMIN_ENTRIES: Record<string, Entry> = {
  "DELETE /users/me": { allowed: "204", isIsolated: true },
  "POST /users/me/restore": { allowed: "200", isIsolated: true },

  "GET /admin/users": { allowed: "200" },
  "POST /admin/users": { allowed: "201", body: (context) => ({ email: newAddress(context) }) },
  "GET /admin/users/:user_id": { allowed: "200" },
  "PATCH /admin/users/:user_id": { allowed: "200", body: () => ({ storage_quota_bytes: null }) },
  "DELETE /admin/users/:user_id": { allowed: "204", make: newAccount },
  "POST /admin/users/:user_id/restore": { allowed: "200", make: newAccount },
  "POST /admin/users/:user_id/credits": { allowed: "201", body: () => ({ delta: 5 }) },
  "POST /admin/users/:user_id/password-reset": { allowed: "200" },
  "GET /admin/jobs": { allowed: "200" },
  // A job that does not exist: it is looked for after the caller was checked.
  "POST /admin/jobs/:job_id/cancel": { allowed: "404 not_found", make: async () => ({ job_id: NO_ID }) },
  "GET /admin/storage": { allowed: "200" },
  "GET /admin/storage/totals": { allowed: "200" },
  "GET /admin/storage/checks": { allowed: "200" },
  "GET /admin/storage/findings": { allowed: "200" },
  "POST /admin/storage/findings/resolve": { allowed: "200", body: () => ({ action: "accept", ids: [NO_ID] }) },
  "GET /admin/health": { allowed: "200" },
  "GET /admin/backups": { allowed: "200" },
  // No folder is configured, and a backup that does not exist: both are found after the caller was checked.
  "POST /admin/backups": { allowed: "409 conflict" },
  "POST /admin/backups/drill": { allowed: "409 conflict" },
  "POST /admin/backups/:run_id/verify": { allowed: "404 not_found", make: async () => ({ run_id: NO_ID }) },
  "GET /admin/workers": { allowed: "200" },
  "GET /admin/workers/:worker_id": { allowed: "200" },
  "POST /admin/workers/:worker_id/drain": { allowed: "200" },
  "POST /admin/workers/:worker_id/resume": { allowed: "200" },
  "POST /admin/workers/:worker_id/revoke": { allowed: "200", make: newWorker },
  "GET /admin/worker-tokens": { allowed: "200" },
  "POST /admin/worker-tokens": { allowed: "201", body: ({ fixtures }) => ({ name: `desk-${fixtures.next()}` }) },
  "DELETE /admin/worker-tokens/:token_id": { allowed: "204", make: newWorker },
  "GET /admin/audit": { allowed: "200" },
  "GET /admin/audit/export": { allowed: "200" },
};
