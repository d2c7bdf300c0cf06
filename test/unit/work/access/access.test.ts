import { describe, expect, test } from "bun:test";
import { KEY_SCOPES, type KeyScope, type WorkspaceRole } from "../../../../src/domain/access";
import { AppError } from "../../../../src/domain/errors";
import type { User } from "../../../../src/store/users";
import {
  type Caller,
  DEFAULT_ACCESS,
  enterWorkspace,
  isAccountKey,
  MAX_FRESH_SESSION_MS,
  type RouteAccess,
  requireCaller,
  requireRemoval,
  requireRole,
} from "../../../../src/work/access/access";
import { addMember, addUser, freshStore } from "../../store/test-store";

const HOUR = 3_600_000;
const key = (scopes: readonly KeyScope[] = KEY_SCOPES, isForAccount = false) =>
  ({ kind: "api_key", ageMs: 0, scopes, isForAccount }) as const;
const session = (ageMs = 0) => ({ kind: "session", ageMs, scopes: KEY_SCOPES, isForAccount: true }) as const;
const MEMBER = { deleted_at: null, is_admin: false };
const ADMIN = { deleted_at: null, is_admin: true };
const LEAVING = { deleted_at: 1, is_admin: true };

/** Returns "allowed" or the code, with the reason if there is one. */
function decide(run: () => void): string {
  try {
    run();
    return "allowed";
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [error.code, error.details.reason].filter(Boolean).join(" ");
  }
}

const READ = true;
const WRITE = false;

type Row = [string, typeof MEMBER | typeof LEAVING, Parameters<typeof requireCaller>[0]["credential"]];

describe("what a route needs of its caller:", () => {
  test.each<[...Row, Partial<RouteAccess>, boolean, string]>([
    ["a key reads", MEMBER, key(), {}, READ, "allowed"],
    ["a key writes", MEMBER, key(), {}, WRITE, "allowed"],
    ["a session reads", MEMBER, session(), {}, READ, "allowed"],
    ["a session of any age writes", MEMBER, session(1_000 * HOUR), {}, WRITE, "allowed"],
    ["a read-only key reads", MEMBER, key(["read"]), {}, READ, "allowed"],
    ["a read-only key writes", MEMBER, key(["read"]), {}, WRITE, "forbidden"],
    ["a read-only key changes its account", MEMBER, key(["read"]), { target: "account" }, WRITE, "forbidden"],
    ["a write-only key reads", MEMBER, key(["write"]), {}, READ, "forbidden"],
    ["a write-only key writes", MEMBER, key(["write"]), {}, WRITE, "allowed"],
    ["a key without scopes reads", MEMBER, key([]), {}, READ, "forbidden"],
    ["a key where a session is needed", MEMBER, key(), { credential: "session" }, READ, "forbidden"],
    ["an old session where one is needed", MEMBER, session(HOUR * 13), { credential: "session" }, WRITE, "allowed"],
    [
      "an account key where a session is needed",
      MEMBER,
      key(KEY_SCOPES, true),
      { credential: "session" },
      READ,
      "forbidden",
    ],
    ["an account key where one is needed", MEMBER, key(KEY_SCOPES, true), { credential: "account" }, WRITE, "allowed"],
    ["another key where one is needed", MEMBER, key(), { credential: "account" }, READ, "forbidden"],
    ["a session where an account key would do", MEMBER, session(), { credential: "account" }, WRITE, "allowed"],
    ["a key where a fresh session is needed", ADMIN, key(), { credential: "fresh-session" }, WRITE, "forbidden"],
    ["a session of 12 h", MEMBER, session(MAX_FRESH_SESSION_MS), { credential: "fresh-session" }, WRITE, "allowed"],
    [
      "a session of more than 12 h",
      ADMIN,
      session(MAX_FRESH_SESSION_MS + 1),
      { credential: "fresh-session" },
      WRITE,
      "forbidden session_too_old",
    ],
    ["a member where an administrator is needed", MEMBER, session(), { role: "admin" }, READ, "forbidden"],
    ["an administrator", ADMIN, session(), { role: "admin" }, WRITE, "allowed"],
    ["an account that is being deleted", LEAVING, key(), {}, READ, "forbidden"],
    ["an account that is being deleted, where it may", LEAVING, session(), { inGrace: true }, WRITE, "allowed"],
    ["its read-only key", LEAVING, key(["read"]), { inGrace: true }, WRITE, "forbidden"],
  ])("%s", (_, user, credential, access, isRead, expected) => {
    expect(decide(() => requireCaller({ user, credential }, { ...DEFAULT_ACCESS, ...access }, isRead))).toBe(expected);
  });
});

test.each<[string, Parameters<typeof isAccountKey>[0], boolean]>([
  ["of the personal workspace", { user_id: "u", workspace_id: "u", scopes: [...KEY_SCOPES], is_device: false }, true],
  ["of a shared workspace", { user_id: "u", workspace_id: "w", scopes: [...KEY_SCOPES], is_device: false }, false],
  ["of a device", { user_id: "u", workspace_id: "u", scopes: [...KEY_SCOPES], is_device: true }, false],
  ["that only reads", { user_id: "u", workspace_id: "u", scopes: ["read"], is_device: false }, false],
  ["that only writes", { user_id: "u", workspace_id: "u", scopes: ["write"], is_device: false }, false],
])("a key %s is an account key: %p is %p", (_, row, expected) => {
  expect(isAccountKey(row)).toBe(expected);
});

test.each<[WorkspaceRole, RouteAccess["target"], boolean, string]>([
  ["owner", "workspace", READ, "allowed"],
  ["owner", "workspace", WRITE, "allowed"],
  ["editor", "workspace", READ, "allowed"],
  ["editor", "workspace", WRITE, "allowed"],
  ["viewer", "workspace", READ, "allowed"],
  ["viewer", "workspace", WRITE, "forbidden"],
  ["viewer", "account", WRITE, "allowed"],
])("%s in a %s, read: %p is %s", (role, target, isRead, expected) => {
  expect(decide(() => requireRole(role, { target, ownersOnly: false }, isRead))).toBe(expected);
});

test.each<[WorkspaceRole, string]>([
  ["owner", "allowed"],
  ["editor", "forbidden"],
  ["viewer", "forbidden"],
])("%s where an owner is needed is %s", (role, expected) => {
  expect(decide(() => requireRole(role, { target: "workspace", ownersOnly: true }, WRITE))).toBe(expected);
});

test.each<[WorkspaceRole, "self" | "other", string]>([
  ["owner", "self", "allowed"],
  ["owner", "other", "allowed"],
  ["editor", "self", "allowed"],
  ["editor", "other", "forbidden"],
  ["viewer", "self", "allowed"],
  ["viewer", "other", "forbidden"],
])("%s who removes %s is %s", (role, who, expected) => {
  const principal = {
    user: { id: "self" } as User,
    credential: { id: "c", ...session() },
    workspace: { id: "w", role },
  };
  expect(decide(() => requireRemoval(principal, who))).toBe(expected);
});

test("the defaults of a route are the safest that serve a resource", () => {
  expect(DEFAULT_ACCESS).toEqual({
    authentication: "required",
    credential: "any",
    inGrace: false,
    role: "member",
    target: "workspace",
    viewersToo: false,
    ownersOnly: false,
    origin: "required",
    rateLimited: true,
  });
});

describe("the workspace of a request", () => {
  const CREDENTIAL = { id: "c", ...session() };
  type KeyWorkspace = Caller["keyWorkspace"];

  /** Anna has a personal workspace and is a viewer of Bert's; `requested` and keys name workspaces by their owners. */
  async function enter(
    requested: "anna" | "bert" | "nobody" | null,
    options: {
      inPath?: "anna" | "bert" | "nobody";
      keyOf?: "anna" | "bert";
      keyRole?: WorkspaceRole | null;
      target?: "workspace" | "account";
    } = {},
  ): Promise<string> {
    await using db = await freshStore();
    const ids = await db.store.write(async (tx) => {
      const anna = await addUser(tx);
      const bert = await addUser(tx);
      await addMember(tx, bert.workspaceId, anna.userId, "viewer");
      return { anna: anna.userId, bert: bert.userId, nobody: crypto.randomUUID() };
    });
    const { inPath, keyOf, keyRole = "editor", target = "workspace" } = options;
    const keyWorkspace: KeyWorkspace = keyOf === undefined ? null : { id: ids[keyOf], role: keyRole };
    const user = { id: ids.anna, deleted_at: null, is_admin: false } as User;
    try {
      const { workspace } = await enterWorkspace(
        db.store.read,
        { user, credential: keyWorkspace ? { id: "k", ...key() } : CREDENTIAL, keyWorkspace },
        {
          access: { ...DEFAULT_ACCESS, target },
          isRead: true,
          inPath: inPath === undefined ? null : ids[inPath],
          requested: requested === null ? null : ids[requested].toUpperCase(),
        },
      );
      const name = Object.entries(ids).find(([, id]) => id === workspace.id)![0];
      return `${workspace.role} of ${name}'s`;
    } catch (error) {
      return (error as AppError).code;
    }
  }

  test.each<[string, Parameters<typeof enter>, string]>([
    ["is the personal one of a session", [null], "owner of anna's"],
    ["can be named by a session", ["anna"], "owner of anna's"],
    ["can be another that the user is a member of", ["bert"], "viewer of bert's"],
    ["is not found without membership", ["nobody"], "not_found"],
    ["is that of the key", [null, { keyOf: "bert" }], "editor of bert's"],
    ["can be named with a key of it", ["bert", { keyOf: "bert" }], "editor of bert's"],
    ["is not found with a key of another", ["bert", { keyOf: "anna" }], "not_found"],
    ["is not found with a key of a former member", [null, { keyOf: "bert", keyRole: null }], "not_found"],
    ["is that of the path", ["anna", { inPath: "bert" }], "viewer of bert's"],
    [
      "is that of the path also for an account's routes",
      [null, { inPath: "bert", target: "account" }],
      "viewer of bert's",
    ],
    ["is not found in a path to somebody else's", [null, { inPath: "nobody", target: "account" }], "not_found"],
    ["is not found in a path with a key of another", [null, { inPath: "anna", keyOf: "bert" }], "not_found"],
    ["does not matter for the account", ["nobody", { target: "account" }], "owner of anna's"],
  ])("%s", async (_, given, expected) => {
    expect(await enter(...given)).toBe(expected);
  });
});
