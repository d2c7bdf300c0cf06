/** Links in the hands of the owner of an address, while somebody else has, or had, the account. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { newId } from "../../src/lib/ids";
import { findUserById, setEmailVerified } from "../../src/store/users";
import type { SmtpReceiver } from "../smtp";
import { emailOf, listAuditLog, PASSWORD, startSession, withPassword } from "./accounts";
import { type Client, createClient } from "./client";
import { type Harness, PATIENCE_MS } from "./harness";
import { type MailingServer, startMailingServer } from "./with-mail";
import { addMember, createWorkspace, inside } from "./workspace-calls";

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

const findUser = (id: string) => findUserById(server.services().store.read, id);
const member = async (): Promise<Client> => withPassword(server, await server.user());

describe("an account that a stranger created with the address", () => {
  const refused = { status: 422, body: { detail: [{ loc: ["body", "password"], input: null }] } };

  /** Returns the token of the link that the owner of the address gets. */
  async function signUp() {
    const email = `${newId()}@example.test`;
    const { body } = await post("auth/signup", { email, password: PASSWORD });
    return { ...body.user, session: body.token, token: await readToken(email, "verify-email") };
  }

  test("is not confirmed with the link alone, with another account or with an API key", async () => {
    const { id, session, token } = await signUp();
    expect(await post("auth/verify-email", { token })).toMatchObject(refused);
    const other = await startSession(server, await server.user());
    const key = await server.nobody.must<{ key: string }>("POST", "/api-keys", {
      json: { name: "k" },
      headers: { Authorization: `Bearer ${session}` },
    });
    for (const credential of [other.key, key.key, "no token"]) {
      const headers = { Authorization: `Bearer ${credential}` };
      expect(await post("auth/verify-email", { token }, headers)).toMatchObject(refused);
    }
    expect((await findUser(id))!.email_verified_at).toBeNull();
    const headers = { Authorization: `Bearer ${session}` };
    expect((await post("auth/verify-email", { token }, headers)).status).toBe(204);
    expect((await findUser(id))!.email_verified_at).not.toBeNull();
  });

  test("sends the stranger no webhooks once its owner has it; a later reset keeps the owner's", async () => {
    const { email, session } = await signUp();
    const listEndpoints = async (token: string) => {
      const headers = { Authorization: `Bearer ${token}` };
      return (await server.nobody.must<{ items: object[] }>("GET", "/api/v1/webhook-endpoints", { headers })).items;
    };
    const addEndpoint = (token: string) =>
      server.nobody.must("POST", "/api/v1/webhook-endpoints", {
        json: { url: "https://192.0.43.8/hook", event_types: ["render.completed"] },
        headers: { Authorization: `Bearer ${token}` },
      });
    /** Resets the password, and returns the token of a session. */
    async function reset(mails: number): Promise<string> {
      await post("auth/password/forgot", { email });
      const token = await readToken(email, "reset-password", mails);
      expect((await post("auth/password/reset", { token, password: NEW_PASSWORD })).status).toBe(204);
      return (await post("auth/login", { email, password: NEW_PASSWORD })).body.token;
    }
    await addEndpoint(session);
    expect(await listEndpoints(session)).toHaveLength(1);
    const taken = await reset(1);
    expect(await listEndpoints(taken)).toEqual([]);
    await addEndpoint(taken);
    expect(await listEndpoints(await reset(3))).toHaveLength(1);
  });

  test("lets nobody in whom the stranger has invited, and reports nothing from a workspace of the stranger", async () => {
    const { email, session } = await signUp();
    const stranger = createClient(server.url, session, "");
    const { id } = await createWorkspace(stranger);
    const link = (await addMember(stranger, id, `${newId()}@example.test`, "owner")).body.invitation_url!;
    const json = { url: "https://192.0.43.8/hook", event_types: ["render.completed"] };
    await stranger.must("POST", "/api/v1/webhook-endpoints", inside(id, json));
    await post("auth/password/forgot", { email });
    const token = await readToken(email, "reset-password", 1);
    expect((await post("auth/password/reset", { token, password: NEW_PASSWORD })).status).toBe(204);
    const invitation = { token: link.split("#")[1], password: PASSWORD };
    expect((await post("auth/invitation", invitation)).status).toBe(401);
    const owner = createClient(
      server.url,
      (await post("auth/login", { email, password: NEW_PASSWORD })).body.token,
      "",
    );
    expect((await owner.must<{ items: [] }>("GET", "/api/v1/webhook-endpoints", inside(id))).items).toEqual([]);
  });

  test("is not confirmed by guessing: wrong passwords count like failed sign-ins", async () => {
    const { email, id, token } = await signUp();
    const confirm = (password: string) => post("auth/verify-email", { token, password });
    for (let times = 0; times < 10; times++) expect(await confirm("wrong horse battery")).toMatchObject(refused);
    expect((await listAuditLog(server)).findLast(({ target_id }) => target_id === id)).toMatchObject({
      action: "session.refused",
      target_kind: "user",
    });
    expect((await confirm(PASSWORD)).status).toBe(429);
    expect((await post("auth/login", { email, password: PASSWORD })).status).toBe(429);
    expect((await findUser(id))!.email_verified_at).toBeNull();
    server.advance(HOUR / 4);
    expect((await confirm(PASSWORD)).status).toBe(204);
  });

  test("without a password needs its session", async () => {
    const anna = await server.user();
    const session = await startSession(server, anna);
    expect((await session.call("POST", "/api/v1/users/me/email-verification")).status).toBe(202);
    const token = await readToken(emailOf(anna), "verify-email");
    expect(await post("auth/verify-email", { token, password: PASSWORD })).toMatchObject({
      status: 401,
      body: { detail: expect.stringContaining("Sign in") },
    });
    const headers = { Authorization: `Bearer ${session.key}` };
    expect((await post("auth/verify-email", { token }, headers)).status).toBe(204);
  });
});

describe("the keys of a taken account", () => {
  test.each([
    [undefined, 401, "All API keys were revoked."],
    [false, 401, "All API keys were revoked."],
    [true, 200, "API keys keep working."],
  ])("keep_api_keys %p: the API keys get %i, as the mail says", async (keep, expected, text) => {
    const anna = await member();
    const email = emailOf(anna);
    await server.services().store.write((tx) => setEmailVerified(tx, anna.userId, 1));
    expect((await anna.call("GET", "/v1/users/me")).status).toBe(200);
    await post("auth/password/forgot", { email });
    const token = await readToken(email, "reset-password");
    const json = { token, password: NEW_PASSWORD, ...(keep !== undefined && { keep_api_keys: keep }) };
    expect((await post("auth/password/reset", json)).status).toBe(204);
    expect((await anna.call("GET", "/v1/users/me")).status).toBe(expected);
    expect((await smtp.mailTo(email, 1)).text).toContain(text);
  });

  test.each(["reset", "change"])(
    "the %s of a password ends approvals of devices that have no key yet",
    async (kind) => {
      const anna = await member();
      const session = await startSession(server, anna);
      const form = (path: string, fields: Record<string, string>, by = server.nobody) =>
        by.call<{ device_code: string; user_code: string; error: string }>("POST", `/oauth/${path}`, {
          body: new URLSearchParams(fields).toString(),
          headers: { "Content-Type": "application/x-www-form-urlencoded" },
        });
      const { device_code, user_code } = (await form("device/code", { client_id: "panel" })).body;
      expect((await form("device/approve", { user_code }, session)).status).toBe(200);
      if (kind === "reset") {
        await post("auth/password/forgot", { email: emailOf(anna) });
        const token = await readToken(emailOf(anna), "reset-password");
        await post("auth/password/reset", { token, password: NEW_PASSWORD, keep_api_keys: true });
      } else {
        const json = { current_password: PASSWORD, password: NEW_PASSWORD };
        await session.must("PUT", "/api/v1/users/me/password", { json });
      }
      const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
      const polled = await form("token", { grant_type, device_code, client_id: "panel" });
      expect([polled.status, polled.body.error]).toEqual([400, "invalid_grant"]);
    },
  );
});
