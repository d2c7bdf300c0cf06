/** Accounts with passwords and sessions, for tests of the dashboard family. */
import { sql } from "drizzle-orm";
import { newId } from "../../src/lib/ids";
import { insertSession } from "../../src/store/sessions";
import { insertUser, setPasswordHash } from "../../src/store/users";
import { type Client, createClient, type Reply } from "./client";
import { createQuickPasswords, type Harness } from "./harness";

/** Passes the rule for new passwords. */
export const PASSWORD = "correct horse battery";

/** Returns the address of a user that the harness has made. */
export const emailOf = (user: Pick<Client, "userId">): string => `${user.userId}@example.test`;

/** Sets `PASSWORD` as a user's password. */
export async function withPassword(server: Harness, user: Client): Promise<Client> {
  const hash = await createQuickPasswords().hash("test", PASSWORD);
  await server.services().store.write((tx) => setPasswordHash(tx, user.userId, hash));
  return user;
}

/** Starts a session of a user without a sign-in. The client sends its token as a bearer token. */
export async function startSession(server: Harness, user: Pick<Client, "userId">): Promise<Client & { key: string }> {
  const { sessions, store } = server.services();
  const { token, row } = await sessions.issue(user.userId, { userAgent: "test", address: "192.0.2.1" });
  await store.write((tx) => insertSession(tx, row));
  return { ...createClient(server.url, token, user.userId), key: token };
}

/** Creates an administrator with `PASSWORD`, which sets up the server. */
export async function createAdmin(server: Harness): Promise<Client> {
  const id = newId();
  const { store } = server.services();
  await store.write((tx) =>
    insertUser(tx, { id, email: `${id}@example.test`, is_admin: true, created_at: server.services().now() }),
  );
  return withPassword(server, createClient(server.url, null, id));
}

/** Returns the value of the session cookie that a response sets; "" if it expires it, null if it sets none. */
export const readCookie = ({ headers }: Reply<unknown>): string | null =>
  /^service_session=([^;]*)/.exec(headers.get("set-cookie") ?? "")?.[1] ?? null;

type AuditLogRow = {
  action: string;
  actor_kind: string;
  actor_id: string | null;
  credential_id: string | null;
  target_id: string | null;
  address: string | null;
  details: string | null;
};

/** Lists the audit log, oldest first. */
export const listAuditLog = (server: Harness): Promise<AuditLogRow[]> =>
  server.services().store.read.all<AuditLogRow>(sql`SELECT * FROM audit_log ORDER BY created_at, id`);
