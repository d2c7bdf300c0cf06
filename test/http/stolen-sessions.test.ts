/** A stolen session must neither switch the second factor off nor lock its owner out. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { generateSync } from "otplib";
import { setEmailVerified, updateProfile } from "../../src/store/users";
import { startSmtpReceiver } from "../smtp";
import { listAuditLog, PASSWORD, startSession, withPassword } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";

setDefaultTimeout(PATIENCE_MS);

const ME = "/api/v1/users/me";
const CONFIRMED = { json: { password: PASSWORD } };
const STEP_MS = 30_000;
const MINUTE = 60_000;

type Enrollment = { secret: string };

let smtp: Awaited<ReturnType<typeof startSmtpReceiver>>;
let server: Harness;
beforeAll(async () => {
  smtp = await startSmtpReceiver();
  server = await harness({ SMTP_URL: smtp.url });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await smtp[Symbol.asyncDispose]();
});

const showCode = (secret: string) => generateSync({ secret, epoch: Math.floor(server.services().now() / 1000) });
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
  const { secret } = await session.must<Enrollment>("POST", `${ME}/two-factor`, CONFIRMED);
  await session.must("POST", `${ME}/two-factor/confirm`, { json: { code: showCode(secret) } });
  return { user, session };
}

describe("a stolen session", () => {
  const refused = { status: 422, body: { detail: [{ loc: ["body", "password"], input: null }] } };
  /** Each change with its path and body, for an account whose second factor is on. */
  const CHANGES: [name: string, method: string, path: string, json: object][] = [
    ["set up an authenticator", "POST", "/two-factor", {}],
    ["turn it on or off", "PATCH", "", { two_factor_enabled: false }],
    ["replace the recovery codes", "POST", "/two-factor/recovery-codes", {}],
    ["remove the authenticator", "DELETE", "/two-factor", {}],
  ];

  test.each(CHANGES)("cannot %s without the password, nor guess it", async (_, method, path, json) => {
    const { user, session } = await enrolled();
    const change = (password?: string) => session.call(method, ME + path, { json: { ...json, password } });
    expect(await change()).toMatchObject(refused);
    for (let times = 0; times < 10; times++) expect(await change("wrong horse battery")).toMatchObject(refused);
    expect((await change(PASSWORD)).status).toBe(429);
    expect(await session.must("GET", ME)).toMatchObject({ two_factor_enabled: true });
    server.advance(15 * MINUTE);
    const actions = (await listAuditLog(server)).filter(({ target_id: id }) => id === user.userId);
    expect(actions.filter(({ action }) => action === "user.two_factor_change_refused")).toHaveLength(10);
  });

  test("cannot turn it on either; what stays as it is needs no password", async () => {
    const user = await member();
    await verify(user);
    const session = await startSession(server, user);
    const patch = (json: object) => session.call("PATCH", ME, { json });
    expect(await patch({ two_factor_enabled: true, first_name: "Eve" })).toMatchObject(refused);
    expect(await session.must("GET", ME)).toMatchObject({ two_factor_enabled: false, first_name: null });
    for (const json of [{ two_factor_enabled: false }, { two_factor_enabled: null }, { first_name: "Ada" }])
      expect((await patch(json)).status).toBe(200);
    expect(await session.call("POST", `${ME}/two-factor`)).toMatchObject(refused);
  });

  test("cannot turn off what its owner turns on at the same time", async () => {
    const user = await member();
    await verify(user);
    const session = await startSession(server, user);
    const { store } = server.services();
    const { write } = store;
    // The owner's change is written after the call was authorized and before it writes. Mails are written in the
    // meantime.
    store.write = async (work) => {
      if (!String(work).includes("setTwoFactorEnabled")) return write(work);
      store.write = write;
      await write((tx) => updateProfile(tx, user.userId, { two_factor_enabled: true }));
      return write(work);
    };
    expect((await session.call("PATCH", ME, { json: { two_factor_enabled: false } })).status).toBe(200);
    expect(await session.must("GET", ME)).toMatchObject({ two_factor_enabled: true });
  });

  test("ends when the second factor changes, and the session of the change stays", async () => {
    const { user, session } = await enrolled();
    for (const json of [{ two_factor_enabled: false }, { two_factor_enabled: true }]) {
      const other = await startSession(server, user);
      await session.must("PATCH", ME, { json: { ...json, password: PASSWORD } });
      expect((await other.call("GET", ME)).status).toBe(401);
    }
    const other = await startSession(server, user);
    await session.must("DELETE", `${ME}/two-factor`, CONFIRMED);
    expect([(await other.call("GET", ME)).status, (await session.call("GET", ME)).status]).toEqual([401, 200]);
  });

  test("of an account without a password changes nothing 10 minutes after the sign-in", async () => {
    nextStep();
    const session = await startSession(server, await server.user());
    const { secret } = await session.must<Enrollment>("POST", `${ME}/two-factor`);
    await session.must("POST", `${ME}/two-factor/confirm`, { json: { code: showCode(secret) } });
    expect((await session.call("POST", `${ME}/two-factor/recovery-codes`, { json: {} })).status).toBe(200);
    server.advance(10 * MINUTE);
    for (const [, method, path, json] of CHANGES)
      expect(await session.call(method, ME + path, { json })).toMatchObject({
        status: 403,
        body: { reason: "session_too_old" },
      });
  });

  test("leaves no hash of the password in the stored request", async () => {
    const session = await startSession(server, await member());
    const headers = { "Idempotency-Key": "secret" };
    const create = (json: object) => session.call("POST", `${ME}/two-factor`, { json, headers });
    expect((await create({ password: PASSWORD })).status).toBe(201);
    // The same request: only its secret differs, which is not compared.
    expect((await create({ password: "wrong horse battery" })).status).toBe(201);
  });
});
