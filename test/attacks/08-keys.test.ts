/** A stolen key: actions of an administrator take effect on the running server within a second. */
import { expect, test } from "bun:test";
import { admin } from "../e2e/server";
import { createClient } from "../http/client";
import { startAttackedServer } from "./attacked-server";

type Key = { id: string; email: string; key: string; last_used_at: string | null; expires_at: string | null };

const MAX_EFFECT_MS = 1_000;
const ASK_EVERY_MS = 10;
const EMAIL = "user1@example.test";

test("a stolen key is found, revoked and replaced while it is in use", async () => {
  await using server = await startAttackedServer();
  const owner = await server.user();
  const bystander = await server.user();
  const run = <T>(...args: string[]) => admin<T>(server.folder, ...args);
  const status = async (key: string | null) =>
    (await createClient(server.url, key, "").call("GET", "/v1/users/me")).status;
  /**
   * Sends requests with the key until one has another status, and fails when that takes too long after `act` has ended.
   */
  const takesEffect = async (key: string, expected: number, act: () => Promise<unknown>) => {
    let done = Number.POSITIVE_INFINITY;
    const acting = act().then(() => {
      done = performance.now();
    });
    for (;;) {
      const askedAt = performance.now();
      if ((await status(key)) === expected) break;
      expect(askedAt).toBeLessThan(done + MAX_EFFECT_MS);
      await Bun.sleep(ASK_EVERY_MS);
    }
    await acting;
    expect(await status(key)).toBe(expected);
  };

  const stolen = await run<Key>("key", "create", "--email", EMAIL, "--name", "laptop", "--expires", "2999-01-01");
  expect(stolen).toMatchObject({ email: EMAIL, expires_at: "2999-01-01T00:00:00.000Z" });
  expect(await status(stolen.key)).toBe(200);

  const { items } = await run<{ items: Key[] }>("key", "list", "--email", EMAIL);
  expect(items.map((key) => key.id)).toContain(stolen.id);
  expect(JSON.stringify(items)).not.toContain(stolen.key);
  await takesEffect(stolen.key, 401, () => run("key", "revoke", stolen.id));

  await takesEffect(owner.key!, 401, () => run("user", "disable", "--email", EMAIL));
  await takesEffect(owner.key!, 200, () => run("user", "enable", "--email", EMAIL));

  // Long enough for a busy machine to create the key.
  const expiry = new Date(Date.now() + 5_000);
  const brief = await run<Key>("key", "create", "--email", EMAIL, "--expires", expiry.toISOString());
  await takesEffect(brief.key, 401, async () => {
    while (Date.now() < expiry.getTime()) {
      expect(await status(bystander.key)).toBe(200);
      await Bun.sleep(ASK_EVERY_MS);
    }
  });
  expect(await status(bystander.key)).toBe(200);
  server.expectUnharmed({ maxProbeMs: 1_000 });
}, 60_000);
