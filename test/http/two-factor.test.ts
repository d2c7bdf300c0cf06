/** The second factor, with a real authenticator library and a real mail server. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { generateSync } from "otplib";
import { setEmailVerified } from "../../src/store/users";
import { resetTwoFactor } from "../../src/work/access/command-accounts";
import { type SmtpReceiver, startSmtpReceiver } from "../smtp";
import { createAdmin, emailOf, listAuditLog, PASSWORD, startSession, withPassword } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";

setDefaultTimeout(PATIENCE_MS);

const ME = "/api/v1/users/me";
const CONFIRMED = { json: { password: PASSWORD } };
const STEP_MS = 30_000;
const MINUTE = 60_000;

type Enrollment = { secret: string; otpauth_url: string; recovery_codes: string[] };
type SignIn = { two_factor_required?: true; challenge: string; methods: string[]; token?: string; detail?: string };

let smtp: SmtpReceiver;
let server: Harness;
beforeAll(async () => {
  smtp = await startSmtpReceiver();
  server = await harness({ SMTP_URL: smtp.url, TRUSTED_PROXIES: "127.0.0.1" });
  await createAdmin(server);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await smtp[Symbol.asyncDispose]();
});

let lastAddress = 0;
const post = (path: string, json: unknown) =>
  server.nobody.call<SignIn>("POST", `/api/v1/${path}`, {
    json,
    headers: { "X-Forwarded-For": `198.51.100.${++lastAddress % 250}` },
  });
const login = (user: Client) => post("auth/login", { email: emailOf(user), password: PASSWORD });
const answer = (challenge: string, code: string) => post("auth/login/two-factor", { challenge, code });

/** The code that an authenticator shows now, or `steps` later. */
const showCode = (secret: string, steps = 0) =>
  generateSync({ secret, epoch: Math.floor((server.services().now() + steps * STEP_MS) / 1000) });
/** A code that is wrong in all accepted steps. */
function wrongCode(secret: string): string {
  const right = [-1, 0, 1, 2].map((steps) => showCode(secret, steps));
  return ["000000", "111111", "222222", "333333", "444444"].find((code) => !right.includes(code))!;
}
/** Advances the clock to the beginning of the next step, so that no test crosses the end of one. */
const nextStep = () => server.advance(STEP_MS - (server.services().now() % STEP_MS) + 1_000);

const member = async (): Promise<Client> => withPassword(server, await server.user());
const verify = (user: Client) =>
  server.services().store.write((tx) => setEmailVerified(tx, user.userId, server.services().now()));

/** A member with an authenticator. */
async function enrolled() {
  nextStep();
  const user = await member();
  const session = await startSession(server, user);
  const enrollment = await session.must<Enrollment>("POST", `${ME}/two-factor`, CONFIRMED);
  await session.must("POST", `${ME}/two-factor/confirm`, { json: { code: showCode(enrollment.secret) } });
  nextStep();
  return { user, session, ...enrollment };
}

async function challenged(user: Client): Promise<SignIn> {
  const { status, body } = await login(user);
  expect([status, body.two_factor_required]).toEqual([200, true]);
  return body;
}

describe("an authenticator", () => {
  test("is set up, asked for at sign-in, and removed with the password", async () => {
    nextStep();
    const user = await member();
    const session = await startSession(server, user);
    const created = await session.call<Enrollment>("POST", `${ME}/two-factor`, CONFIRMED);
    expect([created.status, created.headers.get("cache-control")]).toEqual([201, "no-store"]);
    const { secret, otpauth_url: url, recovery_codes: codes } = created.body;
    expect(new URL(url).searchParams.get("secret")).toBe(secret);
    expect(new Set(codes).size).toBe(10);
    // Sign-in asks for no code before it is confirmed.
    expect((await login(user)).body.token).toBeDefined();
    const confirm = (code: string) => session.call("POST", `${ME}/two-factor/confirm`, { json: { code } });
    expect(await confirm(wrongCode(secret))).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "code"], input: null }] },
    });
    expect((await confirm(showCode(secret))).status).toBe(204);
    expect(await confirm(showCode(secret))).toMatchObject({ status: 409 });
    expect(await session.must("GET", ME)).toMatchObject({ two_factor_enabled: true });
    expect(await session.call("POST", `${ME}/two-factor`, CONFIRMED)).toMatchObject({ status: 409 });
    expect((await smtp.mailTo(emailOf(user))).subject).toBe("Two-factor sign-in is on");

    const { challenge, methods } = await challenged(user);
    expect(methods).toEqual(["totp", "recovery"]);
    // The code that confirmed it was used.
    expect((await answer(challenge, showCode(secret))).status).toBe(401);
    nextStep();
    const signedIn = await answer(challenge, showCode(secret));
    expect(signedIn.status).toBe(200);
    expect(signedIn.headers.get("set-cookie")).toStartWith(`service_session=${signedIn.body.token}`);
    expect((await answer(challenge, showCode(secret, 1))).status).toBe(401);

    const remove = (password: string) => session.call("DELETE", `${ME}/two-factor`, { json: { password } });
    expect(await remove("wrong horse battery")).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "password"], input: null }] },
    });
    expect((await remove(PASSWORD)).status).toBe(204);
    expect(await session.must("GET", ME)).toMatchObject({ two_factor_enabled: false });
    expect((await login(user)).body.token).toBeDefined();
    const actions = (await listAuditLog(server)).filter(({ target_id }) => target_id === user.userId);
    expect(actions.map(({ action }) => action)).toEqual([
      "user.two_factor_changed",
      "session.refused",
      "user.two_factor_change_refused",
      "user.two_factor_changed",
    ]);
  });

  test("accepts a code once, however many sign-ins use it at once", async () => {
    const { user, secret } = await enrolled();
    const challenges = [];
    for (let times = 0; times < 4; times++) challenges.push((await challenged(user)).challenge);
    const code = showCode(secret);
    const replies = await Promise.all(challenges.map((challenge) => answer(challenge, code)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    // A code of an earlier step is rejected too.
    const { challenge } = await challenged(user);
    expect((await answer(challenge, showCode(secret, -1))).status).toBe(401);
    expect((await answer(challenge, showCode(secret, 1))).status).toBe(200);
  });

  test("can be replaced by each recovery code once", async () => {
    const { user, recovery_codes: codes } = await enrolled();
    const challenges = [];
    for (let times = 0; times < 3; times++) challenges.push((await challenged(user)).challenge);
    const typed = ` ${codes[0]!.toUpperCase().replace("-", " ")} `;
    const replies = await Promise.all(challenges.map((challenge) => answer(challenge, typed)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    const mail = await smtp.mailTo(emailOf(user), 1);
    expect([mail.subject, mail.text]).toEqual(["A recovery code was used", expect.stringContaining("9 codes left")]);
    for (const code of codes.slice(1))
      expect((await answer((await challenged(user)).challenge, code)).status).toBe(200);
    expect((await challenged(user)).methods).toEqual(["totp"]);
  });

  test("of another account does not help", async () => {
    const anna = await enrolled();
    const ben = await enrolled();
    const { challenge } = await challenged(ben.user);
    expect((await answer(challenge, showCode(anna.secret))).status).toBe(401);
    expect((await answer(challenge, anna.recovery_codes[0]!)).status).toBe(401);
    expect((await answer(challenge, showCode(ben.secret))).status).toBe(200);
  });

  test("is stored encrypted, and its recovery codes as hashes", async () => {
    const { secret, recovery_codes: codes } = await enrolled();
    const { read } = server.services().store;
    const rows = JSON.stringify([
      await read.all(sql`SELECT * FROM users`),
      await read.all(sql`SELECT * FROM recovery_codes`),
      await read.all(sql`SELECT * FROM idempotency_keys`).catch(() => []),
    ]);
    expect(rows).not.toContain(secret);
    for (const code of codes) expect(rows).not.toContain(code);
  });

  test("is shown once, also to a repeated request", async () => {
    const session = await startSession(server, await member());
    const create = () =>
      session.call<Enrollment>("POST", `${ME}/two-factor`, { ...CONFIRMED, headers: { "Idempotency-Key": "enroll" } });
    expect((await create()).body.secret).toBeString();
    expect(await create()).toMatchObject({
      status: 201,
      body: { secret: null, otpauth_url: null, recovery_codes: null },
    });
  });

  test("is not for API keys, nor for a session of more than 12 hours", async () => {
    const user = await member();
    const session = await startSession(server, user);
    const enable = { json: { two_factor_enabled: true, password: PASSWORD } };
    expect(await user.call("POST", `${ME}/two-factor`)).toMatchObject({ status: 403 });
    expect(await user.call("PATCH", ME, enable)).toMatchObject({ status: 403 });
    server.advance(12 * 60 * MINUTE + 1);
    const tooOld = { status: 403, body: { reason: "session_too_old" } };
    for (const [method, path, json] of [
      ["POST", "/two-factor", undefined],
      ["POST", "/two-factor/confirm", { code: "123456" }],
      ["DELETE", "/two-factor", { password: PASSWORD }],
      ["PATCH", "", { two_factor_enabled: true }],
    ] as const)
      expect(await session.call(method, ME + path, { json })).toMatchObject(tooOld);
  });
});

test("a lost second factor is removed on the command line", async () => {
  const { user, secret } = await enrolled();
  const { challenge } = await challenged(user);
  await resetTwoFactor(server.services(), { email: emailOf(user) });
  expect((await answer(challenge, showCode(secret))).status).toBe(401);
  expect((await login(user)).body.token).toBeDefined();
  const log = await listAuditLog(server);
  expect(log.filter(({ target_id }) => target_id === user.userId).at(-1)).toMatchObject({ actor_kind: "command" });
});

describe("a challenge", () => {
  test("takes 5 wrong codes", async () => {
    const { user, secret } = await enrolled();
    const { challenge } = await challenged(user);
    const guesses = await Promise.all(Array.from({ length: 5 }, () => answer(challenge, wrongCode(secret))));
    expect(guesses.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
    expect(await answer(challenge, showCode(secret))).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining("Sign in again") },
    });
    const next = await challenged(user);
    expect((await answer(next.challenge, showCode(secret))).status).toBe(200);
  });

  test("does not allow guessing without end: the right password forgives no wrong code", async () => {
    const { user, secret } = await enrolled();
    const statuses: number[] = [];
    for (let round = 0; round < 2; round++) {
      const { challenge } = await challenged(user);
      for (let times = 0; times < 5; times++) statuses.push((await answer(challenge, wrongCode(secret))).status);
    }
    expect(statuses).toEqual(Array(10).fill(401));
    const refused = await login(user);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    server.advance(15 * MINUTE);
    expect((await answer((await challenged(user)).challenge, showCode(secret))).status).toBe(200);
  });

  test("does not allow more guesses through many challenges at once", async () => {
    const { user, secret } = await enrolled();
    const challenges: string[] = [];
    for (let times = 0; times < 4; times++) challenges.push((await challenged(user)).challenge);
    const guesses = challenges.flatMap((challenge) =>
      Array.from({ length: 5 }, () => answer(challenge, wrongCode(secret))),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array(10).fill(401), ...Array(10).fill(429)]);
  });

  test("ends after 10 minutes, with another password, and when the second factor is off", async () => {
    const { user, session, secret } = await enrolled();
    const { challenge: late } = await challenged(user);
    server.advance(10 * MINUTE);
    expect((await answer(late, showCode(secret))).status).toBe(401);

    const { challenge: before } = await challenged(user);
    const json = { current_password: PASSWORD, password: "staple horse correct" };
    await session.must("PUT", `${ME}/password`, { json });
    expect((await answer(before, showCode(secret))).status).toBe(401);
    await withPassword(server, user);

    const { challenge: needless } = await challenged(user);
    await session.must("PATCH", ME, { json: { two_factor_enabled: false, password: PASSWORD } });
    expect((await answer(needless, showCode(secret))).status).toBe(401);
    // The authenticator stays, for when it is asked for again.
    await session.must("PATCH", ME, { json: { two_factor_enabled: true, password: PASSWORD } });
    expect((await answer((await challenged(user)).challenge, showCode(secret))).status).toBe(200);
  });
});

describe("a code by email", () => {
  test("signs in once, within 10 minutes", async () => {
    const user = await member();
    const session = await startSession(server, user);
    const enable = { json: { two_factor_enabled: true, password: PASSWORD } };
    // Rejected before the address is confirmed: the code might go to somebody else.
    expect(await session.call("PATCH", ME, enable)).toMatchObject({ status: 409, body: { code: "conflict" } });
    await verify(user);
    expect(await session.must("PATCH", ME, enable)).toMatchObject({ two_factor_enabled: true });
    const { challenge, methods } = await challenged(user);
    expect(methods).toEqual(["email"]);
    const code = /^ +(\d{6})$/m.exec((await smtp.mailTo(emailOf(user), 1)).text!)![1]!;
    const { challenge: other } = await challenged(user);
    expect((await answer(other, code)).status).toBe(401);
    const replies = await Promise.all([1, 2].map(() => answer(challenge, ` ${code.slice(0, 3)} ${code.slice(3)}`)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401]);

    const { challenge: late } = await challenged(user);
    const lateCode = /^ +(\d{6})$/m.exec((await smtp.mailTo(emailOf(user), 3)).text!)![1]!;
    server.advance(10 * MINUTE);
    expect((await answer(late, lateCode)).status).toBe(401);
  });

  test("is sent at most 5 times in 10 minutes", async () => {
    const user = await member();
    await verify(user);
    await (await startSession(server, user)).must("PATCH", ME, {
      json: { two_factor_enabled: true, password: PASSWORD },
    });
    for (let times = 0; times < 5; times++) await challenged(user);
    expect(await login(user)).toMatchObject({ status: 429 });
  });

  test("is impossible without a mail server: neither the change nor the sign-in succeeds", async () => {
    await using plain = await harness();
    const user = await withPassword(plain, await plain.user());
    const session = await startSession(plain, user);
    const { store, now } = plain.services();
    await store.write((tx) => setEmailVerified(tx, user.userId, now()));
    const enable = { json: { two_factor_enabled: true, password: PASSWORD } };
    expect(await session.call("PATCH", ME, enable)).toMatchObject({ status: 409, body: { code: "conflict" } });
    await store.write((tx) => tx.run(sql`UPDATE users SET two_factor_enabled = 1 WHERE id = ${user.userId}`));
    const json = { email: emailOf(user), password: PASSWORD };
    expect(await plain.nobody.call("POST", "/api/v1/auth/login", { json })).toMatchObject({ status: 409 });
  });
});
