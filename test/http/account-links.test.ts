/** The links of accounts, through a real mail server: confirmation of an address, reset of a password, invitation. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { newId } from "../../src/lib/ids";
import { getUser } from "../../src/store/users";
import { disableUser } from "../../src/work/accounts";
import { createInvitation } from "../../src/work/identity/invitations";
import { createPasswordResetLink } from "../../src/work/identity/password-reset";
import { type SmtpReceiver, startSmtpReceiver } from "../smtp";
import { until } from "../until";
import { createAdmin, emailOf, listAuditLog, PASSWORD, startSession, withPassword } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";

setDefaultTimeout(PATIENCE_MS);

const NEW_PASSWORD = "staple horse correct";
const URL_BASE = "https://cut.example";
const HOUR = 3600_000;

let smtp: SmtpReceiver;
let server: Harness;
beforeAll(async () => {
  smtp = await startSmtpReceiver();
  server = await harness({ SMTP_URL: smtp.url, PUBLIC_URL: URL_BASE, SIGNUP: "open", TRUSTED_PROXIES: "127.0.0.1" });
  await createAdmin(server);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await smtp[Symbol.asyncDispose]();
});

let lastAddress = 0;
/** Every client has an address of its own, because addresses are limited. */
const fromNewAddress = (headers: Record<string, string> = {}) => {
  lastAddress++;
  return { "X-Forwarded-For": `198.51.${lastAddress >> 8}.${lastAddress & 255}`, ...headers };
};
const post = (path: string, json: unknown, headers: Record<string, string> = {}) =>
  server.nobody.call<{ code: string; token: string; user: { id: string; email: string } }>("POST", `/api/v1/${path}`, {
    json,
    headers: fromNewAddress(headers),
  });
const login = async (email: string, password: string) => (await post("auth/login", { email, password })).status;

/** Returns the token of the link in the newest mail. `after`: how many mails the address must have got before. */
async function readToken(address: string, page: string, after = 0): Promise<string> {
  const { text, html } = await smtp.mailTo(address, after);
  const token = new RegExp(`${URL_BASE}/${page}#([0-9A-Za-z]{43})\\b`).exec(text ?? "")?.[1];
  expect(token).toBeDefined();
  expect(html).toContain(`href="${URL_BASE}/${page}#${token}"`);
  return token!;
}

const findUser = (id: string) => getUser(server.services().store.read, id);
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
    const [first, second] = await Promise.all([1, 2].map(() => post("auth/verify-email", { token })));
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
    expect((await post("auth/verify-email", { token })).status).toBe(204);
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
    expect(link.url).toStartWith(`${URL_BASE}/reset-password#`);
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

describe("calls without authentication", () => {
  test.each([
    ["auth/password/forgot", { email: "nobody@example.test" }, 202],
    ["auth/verify-email", { token: "x" }, 401],
    ["auth/password/reset", { token: "x", password: NEW_PASSWORD }, 401],
    ["auth/invitation", { token: "x", password: NEW_PASSWORD }, 401],
    ["auth/login/two-factor", { challenge: "x", code: "123456" }, 401],
  ])("%s is limited to 20 an hour and address", async (path, json, expected) => {
    const headers = fromNewAddress();
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

describe("an invitation", () => {
  const invite = async (email: string, change: object = {}) => {
    const admin = await createAdmin(server);
    const { store } = server.services();
    const invitedBy = (await findUser(admin.userId))!;
    return store.write((tx) =>
      createInvitation(server.services(), tx, { email, userId: null, workspace: null, invitedBy, ...change }),
    );
  };

  test("leads to an account and a session, once", async () => {
    const email = `${newId()}@example.test`;
    const { url, expiresAt } = await invite(email);
    const token = await readToken(email, "invitation");
    expect(url).toBe(`${URL_BASE}/invitation#${token}`);
    expect(expiresAt - server.services().now()).toBeGreaterThan(7 * 24 * HOUR - 60_000);
    expect((await post("auth/invitation", { token, password: "short" })).status).toBe(422);
    const [first, second] = await Promise.all([1, 2].map(() => post("auth/invitation", { token, password: PASSWORD })));
    expect([first!.status, second!.status].sort()).toEqual([201, 401]);
    const done = first!.status === 201 ? first! : second!;
    expect(done.headers.get("set-cookie")).toStartWith("service_session=");
    expect(done.body.user.email).toBe(email);
    expect(await findUser(done.body.user.id)).toMatchObject({ email_verified_at: expect.any(Number), is_admin: false });
    expect(await login(email, PASSWORD)).toBe(200);
  });

  test("to an account without a password sets it; an account with one keeps it", async () => {
    const anna = await server.user();
    const email = emailOf(anna);
    const { url } = await invite(email, { userId: anna.userId });
    const another = await invite(email, { userId: anna.userId });
    const accept = (link: string, password: string) => post("auth/invitation", { token: link.split("#")[1], password });
    expect(await accept(url, PASSWORD)).toMatchObject({ status: 201, body: { user: { id: anna.userId } } });
    expect((await accept(another.url, NEW_PASSWORD)).status).toBe(401);
    const late = await invite(email, { userId: anna.userId });
    expect((await accept(late.url, NEW_PASSWORD)).status).toBe(401);
    expect(await login(email, PASSWORD)).toBe(200);
  });

  test("to an address that has got an account meanwhile is a conflict", async () => {
    const anna = await member();
    const { url } = await invite(emailOf(anna));
    const token = url.split("#")[1];
    expect(await post("auth/invitation", { token, password: PASSWORD })).toMatchObject({ status: 409 });
  });

  test("of somebody who is no administrator confirms no address", async () => {
    const ben = (await findUser((await member()).userId))!;
    const email = `${newId()}@example.test`;
    const { url } = await invite(email, { invitedBy: ben, workspace: { id: ben.id, role: "viewer" } });
    const { subject } = await smtp.mailTo(email);
    expect(subject).toBe('Invitation to "Personal" on Offcut');
    const accepted = await post("auth/invitation", { token: url.split("#")[1], password: PASSWORD });
    expect(accepted.status).toBe(201);
    const { id } = accepted.body.user;
    expect((await findUser(id))!.email_verified_at).toBeNull();
    const roles = await server
      .services()
      .store.read.all(sql`SELECT workspace_id, role FROM workspace_members WHERE user_id = ${id} ORDER BY role`);
    expect(roles).toEqual([
      { workspace_id: id, role: "owner" },
      { workspace_id: ben.id, role: "viewer" },
    ]);
  });

  test("expires after 7 days", async () => {
    const email = `${newId()}@example.test`;
    const { url } = await invite(email);
    server.advance(7 * 24 * HOUR);
    const token = url.split("#")[1];
    expect((await post("auth/invitation", { token, password: PASSWORD })).status).toBe(401);
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
