import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openDiskReserve } from "../../../../src/blobs/folder-space";
import { getFolders } from "../../../../src/blobs/folders";
import { type Config, loadConfig } from "../../../../src/config";
import { sha256 } from "../../../../src/lib/hash";
import { silentLog } from "../../../../src/lib/log";
import { createSealer } from "../../../../src/lib/sealer";
import { findKeyOwner, findUserByEmail } from "../../../../src/store/users";
import { runAdmin } from "../../../../src/work/access/admin-commands";
import { createUser, type KeyView, listAccounts } from "../../../../src/work/access/command-accounts";
import { createBackups } from "../../../../src/work/backup/backups";
import { createWorkerList } from "../../../../src/work/cluster/worker-list";
import { createPasswords } from "../../../../src/work/identity/passwords";
import { createMails } from "../../../../src/work/mail/mails";
import { freshStore } from "../../store/test-store";

async function administration(change: Partial<Config> = {}) {
  const db = await freshStore();
  const config = { ...(await loadConfig({ env: { OFFCUT_SIGNUP_CREDITS: "25" }, flags: {} })), ...change };
  const services = {
    store: db.store,
    config,
    mails: createMails({ isConfigured: false, sealer: createSealer("x".repeat(32)), log: silentLog() }),
    now: () => 1_700_000_000_000,
    passwords: createPasswords({ cost: { memoryCost: 8, timeCost: 1 } }),
    setup: NO_SETUP,
    cluster: null,
    disk: openDiskReserve(getFolders(db.folder), 0),
    folders: getFolders(db.folder),
    log: silentLog(),
    confirmedNow: () => 0,
    workerList: createWorkerList({ store: db.store, log: silentLog(), now: () => 1_700_000_000_000 }),
    backups: createBackups({
      config,
      drillCommand: [],
      store: db.store,
      folders: getFolders(db.folder),
      now: () => 1_700_000_000_000,
      log: silentLog(),
    }),
  };
  return {
    services,
    store: db.store,
    run: (command: string, args: Record<string, unknown>) => runAdmin(services, command, args),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

const NO_SETUP = { url: async () => null, matches: async () => false, finish: async () => {} };
const BERTS_KEY = { email: "bert@example.test", name: "k" };
const anna = { email: "Anna@Example.test", password: "correct horse" };

test("a new account gets the sign-up grant, a lower-case address, and a hashed password", async () => {
  await using a = await administration();
  const made = await a.run("user create", anna);
  expect(made).toMatchObject({ email: "anna@example.test", credits: 25, is_admin: false });
  const stored = (await findUserByEmail(a.store.read, "ANNA@example.test"))!;
  expect(stored.password_hash).toStartWith("$argon2id$");
  expect(await Bun.password.verify("correct horse", stored.password_hash!)).toBe(true);
});

test.each([
  ["credits of its own", { credits: 7 }, { credits: 7 }],
  ["no credits", { credits: 0 }, { credits: 0 }],
  ["the right to administer", { admin: true }, { is_admin: true }],
])("an account can be created with %s", async (_, change, expected) => {
  await using a = await administration();
  expect(await a.run("user create", { ...anna, ...change })).toMatchObject(expected);
});

describe("a command is refused:", () => {
  // One account for all: hashing a password is slow on purpose, and no refused command changes anything.
  let a: Awaited<ReturnType<typeof administration>>;
  beforeAll(async () => {
    a = await administration();
    await a.run("user create", { email: "bert@example.test", password: "correct horse" });
  });
  afterAll(() => a[Symbol.asyncDispose]());

  test.each<[string, string, Record<string, unknown>, string]>([
    ["an account without an address", "user create", { password: "correct horse" }, "bad_request"],
    ["an address that is none", "user create", { ...anna, email: "anna" }, "bad_request"],
    ["an address with a line break", "user create", { ...anna, email: "a@b\nc@d" }, "bad_request"],
    ["a short password", "user create", { ...anna, password: "k4Rm-nd9o" }, "bad_request"],
    ["a common password", "user create", { ...anna, password: "password123" }, "bad_request"],
    ["negative credits", "user create", { ...anna, credits: -1 }, "bad_request"],
    ["half a credit", "user create", { ...anna, credits: 0.5 }, "bad_request"],
    ["an address that is taken", "user create", { ...anna, email: "bert@example.test" }, "conflict"],
    ["a grant of nothing", "user grant", { email: "bert@example.test", credits: 0 }, "bad_request"],
    ["a grant in words", "user grant", { email: "bert@example.test", credits: "5" }, "bad_request"],
    ["a grant to an unknown account", "user grant", { email: "carl@example.test", credits: 5 }, "not_found"],
    ["a refund of nothing", "user refund", {}, "bad_request"],
    ["a refund of an asset that was not paid for", "user refund", { assetId: "none" }, "not_found"],
    ["a key for an unknown account", "key create", { email: "carl@example.test", name: "k" }, "not_found"],
    ["a key that has expired already", "key create", { ...BERTS_KEY, expires: "2023-11-14T22:13:20Z" }, "bad_request"],
    ["a key that expires some day", "key create", { ...BERTS_KEY, expires: "tomorrow" }, "bad_request"],
    ["a key that expires on no day", "key create", { ...BERTS_KEY, expires: "2030-02-30" }, "bad_request"],
    ["a key with an endless name", "key create", { ...BERTS_KEY, name: "k".repeat(201) }, "bad_request"],
    ["a key with a scope that does not exist", "key create", { ...BERTS_KEY, scopes: ["admin"] }, "bad_request"],
    ["a key without scopes", "key create", { ...BERTS_KEY, scopes: [] }, "bad_request"],
    ["a key of somebody else's workspace", "key create", { ...BERTS_KEY, workspace: "w" }, "not_found"],
    ["the keys of an unknown account", "key list", { email: "carl@example.test" }, "not_found"],
    ["revoking nothing", "key revoke", {}, "bad_request"],
    ["revoking a key that is not there", "key revoke", { id: "none" }, "not_found"],
    ["disabling an unknown account", "user disable", { email: "carl@example.test" }, "not_found"],
    ["enabling an unknown account", "user enable", { email: "carl@example.test" }, "not_found"],
    ["an unknown command", "user delete", {}, "not_found"],
    ["a command that every object has", "constructor", {}, "not_found"],
  ])("%s", async (_, command, args, code) => {
    await expect(a.run(command, args)).rejects.toMatchObject({ code });
    expect(await listAccounts(a.services)).toMatchObject([{ email: "bert@example.test", credits: 25 }]);
  });
});

test("concurrent requests with one address create one account", async () => {
  await using a = await administration();
  const both = await Promise.allSettled(
    ["anna@example.test", "ANNA@EXAMPLE.TEST"].map((email) =>
      createUser(a.services, { email, password: "correct horse", admin: false, credits: null }),
    ),
  );
  expect(both.map((r) => r.status).toSorted()).toEqual(["fulfilled", "rejected"]);
  expect(await listAccounts(a.services)).toHaveLength(1);
});

test("a grant increases the available credits", async () => {
  await using a = await administration();
  await a.run("user create", anna);
  expect(await a.run("user grant", { email: " ANNA@example.test ", credits: 5 })).toMatchObject({ credits: 30 });
  expect(await a.run("user list", {})).toMatchObject([{ email: "anna@example.test", credits: 30 }]);
});

test("a key is shown once, and its stored hash identifies its owner", async () => {
  await using a = await administration();
  await a.run("user create", anna);
  const made = (await a.run("key create", { email: anna.email, name: "laptop" })) as { key: string; prefix: string };
  expect(made.key).toMatch(/^sk_[0-9A-Za-z]{40}$/);
  expect(made.key).toStartWith(made.prefix);
  const found = await findKeyOwner(a.store.read, sha256(made.key));
  expect(found?.user.email).toBe("anna@example.test");
  expect(JSON.stringify(found)).not.toContain(made.key);
});

const withoutKey = ({ key: _, ...shown }: KeyView & { key?: string }) => shown;

test("keys are listed with their owners, oldest first, without revoked ones", async () => {
  await using a = await administration();
  await a.run("user create", anna);
  await a.run("user create", { ...anna, email: "bert@example.test" });
  const first = (await a.run("key create", { email: anna.email, name: "laptop", expires: "2030-01-02" })) as KeyView;
  const second = (await a.run("key create", { email: "bert@example.test", name: "server" })) as KeyView;
  expect(await a.run("key list", {})).toEqual([
    {
      id: first.id,
      email: "anna@example.test",
      name: "laptop",
      prefix: first.prefix,
      scopes: ["read", "write"],
      workspace_id: expect.any(String),
      created_at: "2023-11-14T22:13:20.000Z",
      last_used_at: null,
      expires_at: "2030-01-02T00:00:00.000Z",
    },
    { ...withoutKey(second), expires_at: null },
  ]);
  expect(await a.run("key list", { email: "BERT@example.test" })).toEqual([withoutKey(second)]);
  expect(await a.run("key revoke", { id: first.id })).toEqual(withoutKey(first));
  await expect(a.run("key revoke", { id: first.id })).rejects.toMatchObject({ code: "not_found" });
  expect(await a.run("key list", {})).toEqual([withoutKey(second)]);
});

test("disabling and enabling an account are idempotent", async () => {
  await using a = await administration();
  await a.run("user create", anna);
  for (const [command, disabled] of [
    ["user disable", true],
    ["user disable", true],
    ["user enable", false],
    ["user enable", false],
  ] as const) {
    expect(await a.run(command, { email: anna.email })).toMatchObject({ email: "anna@example.test", disabled });
    expect(await listAccounts(a.services)).toMatchObject([{ disabled }]);
  }
});

test("the last administrator cannot be disabled", async () => {
  await using a = await administration();
  await a.run("user create", { ...anna, admin: true });
  await a.run("user create", { ...anna, email: "bert@example.test", admin: true });
  await a.run("user create", { ...anna, email: "carl@example.test" });
  await a.run("user disable", { email: "bert@example.test" });
  await expect(a.run("user disable", { email: anna.email })).rejects.toMatchObject({ code: "conflict" });
  await a.run("user disable", { email: "carl@example.test" });
  await a.run("user enable", { email: "bert@example.test" });
  await a.run("user disable", { email: anna.email });
});
