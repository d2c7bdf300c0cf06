/** Everybody who may call an endpoint: with nothing, with a credential that has ended, and in each role. */
import { sql } from "drizzle-orm";
import { KEY_SCOPES, type KeyScope, type WorkspaceRole } from "../../../src/domain/access";
import { newId } from "../../../src/lib/ids";
import { deleteSession, insertSession } from "../../../src/store/sessions";
import { insertUser } from "../../../src/store/users";
import { insertMember } from "../../../src/store/workspaces";
import { insertNewKey } from "../../../src/work/identity/api-keys";
import { grantWorkspace } from "../../unit/store/test-store";
import { withPassword } from "../accounts";
import { type Client, createClient } from "../client";
import type { Harness } from "../harness";

const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;

/** An account. `role` is that in the shared workspace. */
type Person = { role: WorkspaceRole | null; isAdmin: boolean; state: "active" | "disabled" | "in grace" };

/**
 * Somebody who calls. `isNobody`: the credential does not authenticate. `namesWorkspace`: a session asks for the shared
 * workspace.
 */
export type Caller = Person & {
  name: string;
  credential: "none" | "session" | "key";
  isNobody: boolean;
  scopes: readonly KeyScope[];
  isOldSession: boolean;
  /** A key of the personal workspace with all scopes, which its user created. */
  isAccountKey: boolean;
  namesWorkspace: boolean;
  client: Client;
  /** Creates another account that is in every respect as this one. */
  createAnother(): Promise<Client>;
};

const MEMBER: Person = { role: null, isAdmin: false, state: "active" };

/** Creates an account with `PASSWORD` that has this role in the workspace. */
async function createPerson(server: Harness, workspaceId: string, person: Person): Promise<string> {
  const { store, now } = server.services();
  const id = newId();
  await store.write(async (tx) => {
    await insertUser(tx, { id, email: `${id}@example.test`, is_admin: person.isAdmin, created_at: now() });
    await grantWorkspace(tx, id, 100);
    const { role } = person;
    if (role) await insertMember(tx, { workspace_id: workspaceId, user_id: id, role, created_at: now() });
  });
  await withPassword(server, createClient(server.url, null, id));
  const changed = person.state === "disabled" ? sql`disabled_at` : sql`deleted_at`;
  if (person.state !== "active")
    await store.write((tx) => tx.run(sql`UPDATE users SET ${changed} = ${now()} WHERE id = ${id}`));
  return id;
}

type SessionKind = "usual" | "old" | "ended";

async function createSession(server: Harness, userId: string, kind: SessionKind): Promise<string> {
  const { sessions, store } = server.services();
  const { token, row } = await sessions.issue(userId, { userAgent: "matrix", address: "192.0.2.1" });
  const age = kind === "old" ? 12 * HOUR_MS + 1_000 : 0;
  await store.write(async (tx) => {
    await insertSession(tx, { ...row, authenticated_at: row.authenticated_at - age });
    if (kind === "ended") await deleteSession(tx, userId, row.id);
  });
  return token;
}

/** Creates the token of a session whose row has not ended, while the token has. Advances the clock by 181 days. */
async function createExpiredToken(server: Harness, workspaceId: string): Promise<string> {
  const { sessions, store } = server.services();
  const userId = await createPerson(server, workspaceId, { ...MEMBER, role: "owner" });
  const { token, row } = await sessions.issue(userId, { userAgent: "matrix", address: "192.0.2.1" });
  server.advance(181 * DAY_MS);
  const now = server.services().now();
  await store.write((tx) => insertSession(tx, { ...row, last_seen_at: now, expires_at: now + DAY_MS }));
  return token;
}

/** Creates all callers. The sessions and keys of the owner are of one account. */
export async function createCallers(server: Harness, workspaceId: string): Promise<Caller[]> {
  const expired = await createExpiredToken(server, workspaceId);
  const make = (person: Person) => createPerson(server, workspaceId, person);
  const ownerId = await make({ ...MEMBER, role: "owner" });

  const broken = (name: string, token: string | null): Caller => ({
    ...MEMBER,
    name,
    credential: token === null ? "none" : token.startsWith("sk_") ? "key" : "session",
    isNobody: true,
    scopes: [],
    isOldSession: false,
    isAccountKey: false,
    namesWorkspace: true,
    client: createClient(server.url, token, ""),
    createAnother: async () => createClient(server.url, token, ""),
  });

  type SessionOptions = { kind?: SessionKind; id?: string; outside?: boolean };
  const withSession = async (name: string, person: Person, options: SessionOptions = {}): Promise<Caller> => {
    const { kind = "usual", id, outside = false } = options;
    const sign = async (userId: string) => createClient(server.url, await createSession(server, userId, kind), userId);
    return {
      ...person,
      name,
      credential: "session",
      isNobody: person.state === "disabled" || kind === "ended",
      scopes: KEY_SCOPES,
      isOldSession: kind === "old",
      isAccountKey: false,
      namesWorkspace: !outside,
      client: await sign(id ?? (await make(person))),
      createAnother: async () => sign(await make(person)),
    };
  };

  type KeyOptions = { id?: string; scopes?: readonly KeyScope[]; isDevice?: boolean };
  const withKey = async (name: string, person: Person, options: KeyOptions = {}): Promise<Caller> => {
    const { id, scopes = KEY_SCOPES, isDevice = false } = options;
    const mint = async (userId: string) => {
      const workspace = person.role === null ? userId : workspaceId;
      const request = { userId, workspaceId: workspace, name: "matrix", scopes, expiresAt: null, isDevice };
      const { key } = await server.services().store.write((tx) => insertNewKey(tx, request, server.services().now()));
      return createClient(server.url, key, userId);
    };
    return {
      ...person,
      name,
      credential: "key",
      isNobody: person.state === "disabled",
      scopes,
      isOldSession: false,
      isAccountKey: person.role === null && scopes.length === KEY_SCOPES.length && !isDevice,
      namesWorkspace: person.role !== null,
      client: await mint(id ?? (await make(person))),
      createAnother: async () => mint(await make(person)),
    };
  };

  const owner: Person = { ...MEMBER, role: "owner" };
  return [
    broken("no token", null),
    broken("bad token", "x.y.z"),
    broken("unknown key", "sk_0000000000000000000000000000000000000000000"),
    broken("expired JWT", expired),
    await withSession("revoked session", owner, { kind: "ended" }),
    await withSession("disabled user's session", { ...owner, state: "disabled" }),
    await withKey("disabled user's key", { ...owner, state: "disabled" }),
    await withSession("session of an account in grace", { ...owner, state: "in grace" }),
    await withKey("key of an account in grace", { ...owner, state: "in grace" }),
    await withKey("read-only key", owner, { id: ownerId, scopes: ["read"] }),
    await withKey("write-only key", owner, { id: ownerId, scopes: ["write"] }),
    await withSession("viewer", { ...MEMBER, role: "viewer" }),
    await withKey("viewer's key", { ...MEMBER, role: "viewer" }),
    await withSession("editor", { ...MEMBER, role: "editor" }),
    await withKey("editor's key", { ...MEMBER, role: "editor" }),
    await withSession("owner", owner, { id: ownerId }),
    await withSession("owner, signed in 12 h ago", owner, { id: ownerId, kind: "old" }),
    await withKey("owner's key", owner, { id: ownerId }),
    await withKey("owner's device", owner, { id: ownerId, isDevice: true }),
    await withSession("non-member", MEMBER),
    await withSession("another user", MEMBER, { outside: true }),
    await withKey("another user's key", MEMBER),
    await withKey("another user's read-only key", MEMBER, { scopes: ["read"] }),
    await withKey("another user's device", MEMBER, { isDevice: true }),
    await withKey("another user's key in grace", { ...MEMBER, state: "in grace" }),
    await withSession("administrator", { ...MEMBER, isAdmin: true }),
    await withSession("administrator, signed in 12 h ago", { ...MEMBER, isAdmin: true }, { kind: "old" }),
    await withKey("administrator's key", { ...MEMBER, isAdmin: true }),
  ];
}
