/** The entries of administration, and of the deletion of accounts. */
import { type Entry, newAddress } from "./entries";
import type { Fixtures } from "./fixtures";

const newAccount = async ({ server }: Fixtures): Promise<Record<string, string>> => ({
  user_id: (await server.user(0)).userId,
});

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
  "GET /admin/storage": { allowed: "200" },
  "GET /admin/health": { allowed: "200" },
  "GET /admin/audit": { allowed: "200" },
  "GET /admin/audit/export": { allowed: "200" },
};
