/** Limits of guessing, and the information that a sign-in reveals about an account. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { setPasswordHash } from "../../src/store/users";
import { createPasswordResetLink } from "../../src/work/identity/password-reset";
import { createPasswords } from "../../src/work/identity/passwords";
import { measureProcessorMs } from "../processor-time";
import { createAdmin, emailOf, listAuditLog, PASSWORD, withPassword } from "./accounts";
import { type Harness, harness, PATIENCE_MS } from "./harness";

setDefaultTimeout(PATIENCE_MS);

const MINUTE_MS = 60_000;

let server: Harness;
beforeAll(async () => {
  server = await harness({ TRUSTED_PROXIES: "127.0.0.1", SIGNUP: "open" });
  await createAdmin(server);
});
afterAll(() => server[Symbol.asyncDispose]());

const signIn = (email: string, password: string, address: string) =>
  server.nobody.call("POST", "/api/v1/auth/login", {
    json: { email, password },
    headers: { "X-Forwarded-For": address },
  });

const WRONG = "wrong horse battery";

describe("after 10 failures in 15 minutes", () => {
  test.each([
    ["an account", async () => emailOf(await withPassword(server, await server.user()))],
    ["an address without an account", async () => "nobody1@example.test"],
  ])("%s is refused with 429, the right password included, until the time in Retry-After", async (name, create) => {
    const email = await create();
    const address = name === "an account" ? "192.0.2.1" : "192.0.2.2";
    const failed = await Promise.all(Array.from({ length: 10 }, () => signIn(email, WRONG, address)));
    expect(failed.map(({ status }) => status)).toEqual(Array(10).fill(401));
    const refused = await signIn(email.toUpperCase(), PASSWORD, "192.0.2.99");
    expect(refused).toMatchObject({ status: 429, body: { code: "rate_limited", detail: expect.any(String) } });
    const seconds = Number(refused.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(14 * 60);
    expect(seconds).toBeLessThanOrEqual(15 * 60);
    server.advance(seconds * 1000);
    const expected = name === "an account" ? 200 : 401;
    expect((await signIn(email, PASSWORD, address)).status).toBe(expected);
  });

  test("the current password cannot be guessed either", async () => {
    const anna = await withPassword(server, await server.user());
    const { token } = (await signIn(emailOf(anna), PASSWORD, "192.0.2.3")).body as { token: string };
    const change = (current: string) =>
      server.nobody.call("PUT", "/api/v1/users/me/password", {
        json: { current_password: current, password: "staple horse 4711" },
        headers: { Authorization: `Bearer ${token}` },
      });
    for (let i = 0; i < 10; i++) expect((await change(WRONG)).status).toBe(422);
    expect((await change(PASSWORD)).status).toBe(429);
    expect((await signIn(emailOf(anna), PASSWORD, "198.51.100.4")).status).toBe(429);
    server.advance(15 * MINUTE_MS);
  });
});

describe("failures of strangers", () => {
  const HOMES: [name: string, home: string, near: string, far: string][] = [
    ["an IPv4 network", "203.0.113.5", "203.0.113.77", "203.0.114.5"],
    ["an IPv6 network", "2001:db8:1::5", "2001:db8:1::77", "2001:db8:1:1::5"],
  ];
  test.each(HOMES)("do not lock an account in %s that has signed in to it", async (_, home, near, far) => {
    const email = emailOf(await withPassword(server, await server.user()));
    expect((await signIn(email, PASSWORD, home)).status).toBe(200);
    const fail = (address: string) => Promise.all(Array.from({ length: 10 }, () => signIn(email, WRONG, address)));
    await fail(far);
    expect((await signIn(email, PASSWORD, far)).status).toBe(429);
    expect((await signIn(email, PASSWORD, near)).status).toBe(200);
    // A success in the known network forgives no failure of strangers.
    expect((await signIn(email, PASSWORD, far)).status).toBe(429);
    // The known network does not have more than 10 either.
    await fail(home);
    expect((await signIn(email, PASSWORD, near)).status).toBe(429);
    server.advance(15 * MINUTE_MS);
    expect((await signIn(email, PASSWORD, near)).status).toBe(200);
  });

  test("do not lock the account in its network by naming the network in the address", async () => {
    const email = emailOf(await withPassword(server, await server.user()));
    expect((await signIn(email, PASSWORD, "203.0.117.5")).status).toBe(200);
    for (const separator of ["\n", '","', " "])
      for (let i = 0; i < 10; i++) await signIn(`${email}${separator}203.0.117.0/24`, WRONG, "192.0.2.9");
    expect((await signIn(email, PASSWORD, "203.0.117.6")).status).toBe(200);
  });

  test("do not lock the account where its password was reset, and older networks are strange then", async () => {
    const user = await withPassword(server, await server.user());
    const email = emailOf(user);
    expect((await signIn(email, PASSWORD, "203.0.115.1")).status).toBe(200);
    const { store } = server.services();
    const { url } = await store.write((tx) =>
      createPasswordResetLink(server.services(), tx, { id: user.userId, email }, user.userId),
    );
    const json = { token: url.split("#")[1], password: "staple horse 4711" };
    const headers = { "X-Forwarded-For": "203.0.116.1" };
    expect((await server.nobody.call("POST", "/api/v1/auth/password/reset", { json, headers })).status).toBe(204);
    await Promise.all(Array.from({ length: 10 }, () => signIn(email, WRONG, "203.0.115.1")));
    expect((await signIn(email, json.password, "203.0.115.1")).status).toBe(429);
    expect((await signIn(email, json.password, "203.0.116.2")).status).toBe(200);
  });
});

test("an address is refused after 50 failures, whatever the accounts, and others are not", async () => {
  const anna = await withPassword(server, await server.user());
  const guesses = Array.from({ length: 50 }, (_, i) => signIn(`user${i}@example.test`, WRONG, "2001:db8::1"));
  expect(new Set((await Promise.all(guesses)).map(({ status }) => status))).toEqual(new Set([401]));
  expect((await signIn(emailOf(anna), PASSWORD, "2001:db8::2")).status).toBe(429);
  expect((await signIn(emailOf(anna), PASSWORD, "2001:db8:0:1::2")).status).toBe(200);
});

test("calls that waited while others failed are refused too", async () => {
  const anna = await withPassword(server, await server.user());
  const statuses = (await Promise.all(Array.from({ length: 30 }, () => signIn(emailOf(anna), WRONG, "192.0.2.5")))).map(
    ({ status }) => status,
  );
  // The limit may be exceeded by the number of concurrent hashes: all cores but one, and at least one.
  const atOnce = Math.max(1, navigator.hardwareConcurrency - 1);
  const failed = statuses.filter((status) => status === 401).length;
  expect(failed).toBeWithin(10, 10 + atOnce + 1);
  expect(statuses.filter((status) => status === 429).length).toBe(30 - failed);
});

test("20 sign-ups an hour and address", async () => {
  const signUp = (address: string) =>
    server.nobody.call("POST", "/api/v1/auth/signup", {
      json: { email: "x", password: "short" },
      headers: { "X-Forwarded-For": address },
    });
  for (let i = 0; i < 20; i++) expect((await signUp("192.0.2.6")).status).toBe(422);
  const refused = await signUp("192.0.2.6");
  expect([refused.status, Number(refused.headers.get("retry-after")) > 59 * 60]).toEqual([429, true]);
  expect((await signUp("192.0.2.7")).status).toBe(422);
});

test("the audit log has failures with the account but never what was typed", async () => {
  const anna = await withPassword(server, await server.user());
  await signIn(emailOf(anna), WRONG, "192.0.2.8");
  await signIn("my secret password", WRONG, "192.0.2.8");
  const rows = (await listAuditLog(server)).filter((row) => row.address === "192.0.2.8");
  const refused = { action: "session.refused", actor_kind: "anonymous", actor_id: null, details: null };
  expect(rows).toMatchObject([
    { ...refused, target_id: anna.userId },
    { ...refused, target_id: null },
  ]);
  expect(JSON.stringify(rows)).not.toMatch(/secret|horse/);
});

test("the work of a refusal does not show whether the address has an account", async () => {
  server.services().passwords = createPasswords();
  const user = await server.user();
  const hash = await server.services().passwords.hash("test", PASSWORD);
  await server.services().store.write((tx) => setPasswordHash(tx, user.userId, hash));
  const measure = (email: string, address: string) =>
    measureProcessorMs(async () => expect((await signIn(email, WRONG, address)).status).toBe(401));
  const times: Record<"known" | "unknown", number[]> = { known: [], unknown: [] };
  for (let pair = 0; pair < 5; pair++) {
    // Alternates, because the first one may take longer.
    for (const which of pair % 2 === 0 ? (["known", "unknown"] as const) : (["unknown", "known"] as const)) {
      const email = which === "known" ? emailOf(user) : "nobody2@example.test";
      times[which].push(await measure(email, `198.51.100.${pair}`));
    }
  }
  // Other work of the process only increases the times.
  const [known, unknown] = [Math.min(...times.known), Math.min(...times.unknown)];
  const [difference, usual] = [known - unknown, Math.max(known, unknown)];
  console.log(
    `user enumeration: difference ${difference.toFixed(1)} ms of processor time of ${usual.toFixed(0)} ms, the least of ${times.known.length} pairs`,
  );
  expect(Math.abs(difference)).toBeLessThan(usual / 2);
});
