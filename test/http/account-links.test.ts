/** The links of accounts, through a real mail server: confirmation of an address, reset of a password. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { newId } from "../../src/lib/ids";
import { completeTotpEnrollment } from "../../src/store/two-factor";
import { findUserById } from "../../src/store/users";
import { disableUser } from "../../src/work/access/command-accounts";
import { createPasswordResetLink } from "../../src/work/identity/password-reset";
import type { SmtpReceiver } from "../smtp";
import { until } from "../until";
import { createAdmin, emailOf, listAuditLog, PASSWORD, startSession, withPassword } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { type MailingServer, PUBLIC_URL, startMailingServer } from "./with-mail";

setDefaultTimeout(PATIENCE_MS);

const NEW_PASSWORD = "staple horse correct";
const HOUR = 3600_000;

let world: MailingServer;
let smtp: SmtpReceiver;
let server: Harness;
let post: MailingServer["post"];
let readToken: MailingServer["readToken"];
beforeAll(async () => {
  world = await startMailingServer();
  ({ smtp, server, post, readToken } = world);
});
afterAll(() => world[Symbol.asyncDispose]());

const login = async (email: string, password: string) => (await post("auth/login", { email, password })).status;

const findUser = (id: string) => findUserById(server.services().store.read, id);
const member = async (): Promise<Client> => withPassword(server, await server.user());
const auditOf = async (id: string) =>
  (await listAuditLog(server)).filter(({ target_id }) => target_id === id).map(({ action }) => action);

describe("a new account", () => {
  test("confirms its address with the mailed link, once", async () => {
    const email = `${newId()}@example.test`;
    const signedUp = await post("auth/signup", { email, password: PASSWORD });
    expect(signedUp.status).toBe(201);
    const { id } = signedUp.body.user;
    expect((await findUser(id))!.email_verified_at).toBeNull();
    const token = await readToken(email, "verify-email");
    const json = { token, password: PASSWORD };
    const [first, second] = await Promise.all([1, 2].map(() => post("auth/verify-email", json)));
    expect([first!.status, second!.status].sort()).toEqual([204, 401]);
    expect((await findUser(id))!.email_verified_at).not.toBeNull();
    expect(await auditOf(id)).toContain("user.email_verified");
  });

  test("asks for the link again, at most 5 times an hour", async () => {
    const anna = await server.user();
    const session = await startSession(server, anna);
    const ask = () => session.call<{ code: string }>("POST", "/api/v1/users/me/email-verification");
    for (let times = 0; times < 5; times++) expect((await ask()).status).toBe(202);
    const refused = await ask();
    expect([refused.status, refused.body.code]).toEqual([429, "rate_limited"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(3500);
    await until("5 mails", () => smtp.mails.filter(({ envelopeTo }) => envelopeTo[0] === emailOf(anna)).length === 5);
    // An older link works too: mails may be late.
    const { text } = smtp.mails.find(({ envelopeTo }) => envelopeTo[0] === emailOf(anna))!;
    const token = /verify-email#(\w+)/.exec(text!)![1];
    const confirmed = await session.call("POST", "/api/v1/auth/verify-email", { json: { token } });
    expect(confirmed.status).toBe(204);
    expect(await ask()).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(await anna.call("POST", "/api/v1/users/me/email-verification")).toMatchObject({ status: 403 });
  });
});

describe("a forgotten password", () => {
  test("is reset with the mailed link, which ends all sessions", async () => {
    const anna = await member();
    const email = emailOf(anna);
    const session = await startSession(server, anna);
    expect((await post("auth/password/forgot", { email: ` ${email.toUpperCase()}` })).status).toBe(202);
    const token = await readToken(email, "reset-password");
    // A password that cannot be chosen leaves the link as it is.
    expect(await post("auth/password/reset", { token, password: "password123" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "password"], input: null }] },
    });
    const tries = await Promise.all(
      [1, 2, 3].map((n) => post("auth/password/reset", { token, password: `${NEW_PASSWORD} ${n}` })),
    );
    expect(tries.map(({ status }) => status).sort()).toEqual([204, 401, 401]);
    const winner = tries.findIndex(({ status }) => status === 204) + 1;
    expect((await session.call("GET", "/api/v1/users/me")).status).toBe(401);
    expect(await login(email, PASSWORD)).toBe(401);
    expect(await login(email, `${NEW_PASSWORD} ${winner}`)).toBe(200);
    expect((await smtp.mailTo(email, 1)).subject).toBe("Your password was changed");
    expect(await findUser(anna.userId)).toMatchObject({ email_verified_at: expect.any(Number) });
    expect(await auditOf(anna.userId)).toEqual(
      expect.arrayContaining(["user.password_reset_requested", "user.password_reset"]),
    );
  });

  test("takes the account from a stranger who signed up with the address", async () => {
    const email = `${newId()}@example.test`;
    const signedUp = await post("auth/signup", { email, password: PASSWORD });
    const headers = { Authorization: `Bearer ${signedUp.body.token}` };
    const key = await server.nobody.must<{ key: string }>("POST", "/api-keys", { json: { name: "Stranger" }, headers });
    const withKey = () =>
      server.nobody.call("GET", "/v1/projects", { headers: { Authorization: `Bearer ${key.key}` } });
    expect((await withKey()).status).toBe(200);
    const { id } = signedUp.body.user;
    const factor = { secret: "the stranger's", step: 1, now: server.services().now() };
    await server.services().store.write((tx) => completeTotpEnrollment(tx, id, factor));
    await post("auth/password/forgot", { email });
    const link = await readToken(email, "reset-password", 1);
    expect((await post("auth/password/reset", { token: link, password: NEW_PASSWORD })).status).toBe(204);
    expect((await withKey()).status).toBe(401);
    expect(await findUser(id)).toMatchObject({ two_factor_enabled: false, totp_secret: null });
    expect((await post("auth/login", { email, password: NEW_PASSWORD })).body).toMatchObject({
      token: expect.any(String),
    });
  });

  test("the answer says nothing about the address", async () => {
    const anna = await member();
    for (const email of [emailOf(anna), "nobody@example.test", "no address", "a@b\r\nBcc: eve@example.test"]) {
      const { status, body } = await post("auth/password/forgot", { email });
      expect([status, body as unknown]).toEqual([202, ""]);
    }
    await readToken(emailOf(anna), "reset-password");
    expect(smtp.mails.flatMap(({ envelopeTo }) => envelopeTo).filter((to) => /nobody|eve/.test(to))).toEqual([]);
  });

  test("a link of another host than the configured one is never made", async () => {
    const anna = await member();
    const email = emailOf(anna);
    const headers = { Host: "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https" };
    expect((await post("auth/password/forgot", { email }, headers)).status).toBe(202);
    await readToken(email, "reset-password");
    const { raw } = await smtp.mailTo(email);
    expect(raw).not.toContain("evil.example");
  });

  test("a link is good for one purpose, until it expires, and not after another one was used", async () => {
    const anna = await member();
    const email = emailOf(anna);
    const reset = (token: string) => post("auth/password/reset", { token, password: NEW_PASSWORD });
    await post("auth/password/forgot", { email });
    const first = await readToken(email, "reset-password");
    await post("auth/password/forgot", { email });
    const second = await readToken(email, "reset-password", 1);
    const used = { status: 401, body: { code: "unauthenticated" } };
    expect(await post("auth/verify-email", { token: first })).toMatchObject(used);
    expect(await post("auth/invitation", { token: first, password: NEW_PASSWORD })).toMatchObject(used);
    expect((await reset(second)).status).toBe(204);
    expect(await reset(first)).toMatchObject(used);
    const unknown = await reset("x".repeat(43));
    const again = await reset(second);
    expect([unknown.status, unknown.body]).toEqual([again.status, again.body]);

    await post("auth/password/forgot", { email });
    const third = await readToken(email, "reset-password", 3);
    server.advance(HOUR);
    expect(await reset(third)).toMatchObject(used);
  });

  test("an administrator's link works without mail, and confirms no address", async () => {
    const anna = await member();
    const admin = await createAdmin(server);
    const { store } = server.services();
    const user = (await findUser(anna.userId))!;
    const link = await store.write((tx) => createPasswordResetLink(server.services(), tx, user, admin.userId));
    expect(link.url).toStartWith(`${PUBLIC_URL}/reset-password#`);
    const token = link.url.split("#")[1];
    expect((await post("auth/password/reset", { token, password: NEW_PASSWORD })).status).toBe(204);
    expect((await findUser(anna.userId))!.email_verified_at).toBeNull();
  });

  test("a disabled account gets no link and accepts none", async () => {
    const anna = await member();
    const email = emailOf(anna);
    await post("auth/password/forgot", { email });
    const token = await readToken(email, "reset-password");
    await disableUser(server.services(), { email, disabled: true });
    expect((await post("auth/password/reset", { token, password: NEW_PASSWORD })).status).toBe(401);
    expect((await post("auth/password/forgot", { email })).status).toBe(202);
    const other = await member();
    await post("auth/password/forgot", { email: emailOf(other) });
    await readToken(emailOf(other), "reset-password");
    expect(smtp.mails.filter(({ envelopeTo }) => envelopeTo[0] === email)).toHaveLength(1);
  });

  test("a mailbox gets at most 5 links an hour", async () => {
    const anna = await member();
    for (let times = 0; times < 8; times++)
      expect((await post("auth/password/forgot", { email: emailOf(anna) })).status).toBe(202);
    const other = await member();
    await post("auth/password/forgot", { email: emailOf(other) });
    await readToken(emailOf(other), "reset-password");
    await until("5 mails", () => smtp.mails.filter(({ envelopeTo }) => envelopeTo[0] === emailOf(anna)).length === 5);
    const [row] = await server
      .services()
      .store.read.all<{ n: number }>(sql`SELECT count(*) AS n FROM mails WHERE user_id = ${anna.userId}`);
    expect(row!.n).toBe(5);
  });
});

test("the time of the answer to a forgotten password does not show whether the address has an account", async () => {
  const users = [];
  for (let pair = 0; pair < 41; pair++) users.push(emailOf(await server.user()));
  const measure = async (email: string) => {
    const started = performance.now();
    expect((await post("auth/password/forgot", { email })).status).toBe(202);
    return performance.now() - started;
  };
  const differences: number[] = [];
  const usual: number[] = [];
  for (const [pair, known] of users.entries()) {
    // Measured in pairs, so that a slow machine affects both.
    const unknown = `nobody${pair}@example.test`;
    const times = new Map<string, number>();
    for (const email of pair % 2 === 0 ? [known, unknown] : [unknown, known]) times.set(email, await measure(email));
    differences.push(times.get(known)! - times.get(unknown)!);
    usual.push(...times.values());
  }
  const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!;
  const figures = `${median(differences).toFixed(2)} ms of ${median(usual).toFixed(1)} ms in ${differences.length} pairs`;
  console.log(`forgotten password: median difference ${figures}`);
  expect(Math.abs(median(differences))).toBeLessThan(Math.max(5, median(usual) / 2));
  await readToken(users.at(-1)!, "reset-password");
});

describe("calls without authentication", () => {
  let lastAddress = 0;
  test.each([
    ["auth/password/forgot", { email: "nobody@example.test" }, 202],
    ["auth/verify-email", { token: "x" }, 401],
    ["auth/password/reset", { token: "x", password: NEW_PASSWORD }, 401],
    ["auth/invitation", { token: "x", password: NEW_PASSWORD }, 401],
    ["auth/login/two-factor", { challenge: "x", code: "123456" }, 401],
  ])("%s is limited to 20 an hour and address", async (path, json, expected) => {
    const headers = { "X-Forwarded-For": `203.0.113.${++lastAddress}` };
    const call = () => post(path, json, headers);
    for (let times = 0; times < 20; times++) expect((await call()).status).toBe(expected);
    const refused = await call();
    expect([refused.status, refused.body.code]).toEqual([429, "rate_limited"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await post(path, json)).status).toBe(expected);
  });

  test("repeat no secret", async () => {
    for (const [path, json] of [
      ["auth/password/reset", { token: ["my secret"], password: NEW_PASSWORD }],
      ["auth/password/reset", { token: "x", passwort: "my secret" }],
      ["auth/verify-email", { token: "x", password: ["my secret"] }],
      ["auth/verify-email", { token: `my secret${"x".repeat(300)}` }],
      ["auth/invitation", { tokens: "my secret" }],
      ["auth/login/two-factor", { challenge: "x", code: { value: "my secret" } }],
    ] as const) {
      const { status, body } = await post(path, json);
      expect(status).toBe(422);
      expect(JSON.stringify(body)).not.toContain("my secret");
    }
  });
});

test("without a mail server nothing pretends to be sent", async () => {
  await using plain = await harness();
  await createAdmin(plain);
  const anna = await withPassword(plain, await plain.user());
  const session = await startSession(plain, anna);
  expect(await plain.nobody.must("GET", "/api/v1/auth/methods")).toMatchObject({ email: false });
  const json = { email: emailOf(anna) };
  expect((await plain.nobody.call("POST", "/api/v1/auth/password/forgot", { json })).status).toBe(202);
  expect(await session.call("POST", "/api/v1/users/me/email-verification")).toMatchObject({ status: 409 });
  const { read } = plain.services().store;
  expect(await read.all(sql`SELECT id FROM mails`)).toEqual([]);
  expect(await read.all(sql`SELECT id FROM one_time_tokens`)).toEqual([]);
});

test("tokens are in neither the log nor the database", async () => {
  const anna = await member();
  await post("auth/password/forgot", { email: emailOf(anna) });
  const token = await readToken(emailOf(anna), "reset-password");
  const { read } = server.services().store;
  const rows = [
    await read.all(sql`SELECT * FROM one_time_tokens`),
    await read.all(sql`SELECT * FROM mails`),
    await read.all(sql`SELECT * FROM audit_log`),
  ];
  expect(JSON.stringify(rows)).not.toContain(token);
  expect(server.errors).toEqual([]);
});
