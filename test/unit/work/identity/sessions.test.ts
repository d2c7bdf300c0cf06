/** Sessions in the database: their duration, and the immediate effect of their end. */
import { expect, test } from "bun:test";
import { silentLog } from "../../../../src/lib/log";
import { deleteSession, deleteSessionsOf, insertSession } from "../../../../src/store/sessions";
import { updateAccountState } from "../../../../src/store/users";
import { createSessionKey, openSessionKeys } from "../../../../src/work/identity/session-keys";
import { createSessions } from "../../../../src/work/identity/sessions";
import { addUser, freshStore } from "../../store/test-store";

const DAY_MS = 24 * 3600 * 1000;
const START = 1_800_000_000_000;
const CLIENT = { userAgent: "Browser", address: "192.0.2.1" };

async function setting() {
  const db = await freshStore();
  const { store } = db;
  let now = START;
  const keys = openSessionKeys([createSessionKey(START)], { now: () => now, log: silentLog(), save: async () => {} });
  const { userId } = await store.write(addUser);
  const sessions = createSessions({ store, keys, now: () => now });
  return {
    store,
    userId,
    sessions,
    /** A second server on the same database, as after a restart. */
    another: () => createSessions({ store, keys, now: () => now }),
    pass: (days: number) => {
      now += days * DAY_MS;
    },
    start: async () => {
      const issued = await sessions.issue(userId, CLIENT);
      await store.write((tx) => insertSession(tx, issued.row));
      return issued;
    },
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

test("a session lasts 30 days after its last use", async () => {
  await using s = await setting();
  const { token, row } = await s.start();
  expect(row.expires_at).toBe(START + 30 * DAY_MS);
  s.pass(29);
  expect((await s.sessions.verify(token))?.session.last_seen_at).toBe(START + 29 * DAY_MS);
  s.pass(29);
  expect(await s.sessions.verify(token)).not.toBeNull();
  // Writes are in order: the time of the use is stored before this.
  await s.store.write(async () => {});
  expect(await s.another().verify(token)).not.toBeNull();
  s.pass(30);
  for (const sessions of [s.sessions, s.another()]) expect(await sessions.verify(token)).toBeNull();
});

test("a session lasts 180 days after sign-in, however often it is used", async () => {
  await using s = await setting();
  const { token } = await s.start();
  for (let day = 0; day < 175; day += 25) {
    s.pass(25);
    expect(await s.sessions.verify(token)).not.toBeNull();
  }
  s.pass(5);
  for (const sessions of [s.sessions, s.another()]) expect(await sessions.verify(token)).toBeNull();
});

test("the end of a session takes effect at once, also while its token is cached", async () => {
  await using s = await setting();
  const [first, second, third] = [await s.start(), await s.start(), await s.start()];
  for (const { token } of [first, second, third]) expect(await s.sessions.verify(token)).not.toBeNull();
  expect(await s.store.write((tx) => deleteSession(tx, s.userId, first.row.id))).toBe(true);
  expect(await s.sessions.verify(first.token)).toBeNull();
  expect(await s.sessions.verify(second.token)).not.toBeNull();
  await s.store.write((tx) => deleteSessionsOf(tx, s.userId, third.row.id));
  expect(await s.sessions.verify(second.token)).toBeNull();
  expect(await s.sessions.verify(third.token)).not.toBeNull();
});

test("a change of the account is seen at once", async () => {
  await using s = await setting();
  const { token } = await s.start();
  expect((await s.sessions.verify(token))?.user.disabled_at).toBeNull();
  await s.store.write((tx) => updateAccountState(tx, s.userId, { disabled_at: START }));
  expect((await s.sessions.verify(token))?.user.disabled_at).toBe(START);
});

test("a session of another user cannot be ended", async () => {
  await using s = await setting();
  const { token, row } = await s.start();
  const { userId } = await s.store.write(addUser);
  expect(await s.store.write((tx) => deleteSession(tx, userId, row.id))).toBe(false);
  expect(await s.sessions.verify(token)).not.toBeNull();
});

test("a token whose session was never stored, or of another user, is refused", async () => {
  await using s = await setting();
  expect(await s.sessions.verify((await s.sessions.issue(s.userId, CLIENT)).token)).toBeNull();
  const other = await s.store.write(addUser);
  const { row } = await s.start();
  const stolen = await s.sessions.issue(other.userId, CLIENT);
  await s.store.write((tx) => deleteSession(tx, s.userId, row.id));
  await s.store.write((tx) => insertSession(tx, { ...row, id: stolen.row.id }));
  expect(await s.sessions.verify(stolen.token)).toBeNull();
});

test("verifying a cached token does not read the database", async () => {
  await using s = await setting();
  const { token } = await s.start();
  await s.sessions.verify(token);
  const { read } = s.store;
  s.store.read = new Proxy(read, {
    get: () => {
      throw new Error("read");
    },
  });
  expect(await s.sessions.verify(token)).not.toBeNull();
  s.store.read = read;
});
