/** Set-up, sign-up, sign-in and sign-out. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { disableUser } from "../../src/work/access/command-accounts";
import { createAdmin, emailOf, listAuditLog, PASSWORD, readCookie, startSession, withPassword } from "./accounts";
import { type Client, createClient, type Reply } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";

setDefaultTimeout(PATIENCE_MS);

type Session = { token: string; expires_at: string; user: { id: string; email: string } };
const DAY_MS = 24 * 3600 * 1000;

describe("a new server", () => {
  test("is set up once with the link, and then takes sign-ins", async () => {
    await using server = await harness({ SIGNUP: "open" });
    const { nobody } = server;
    const methods = () => nobody.must("GET", "/api/v1/auth/methods");
    expect(await methods()).toEqual({ is_set_up: false, signup: "closed", email: false, oidc: [] });
    const url = (await server.services().setup.url())!;
    const token = url.split("#")[1]!;
    const setUp = (change: object = {}) =>
      nobody.call<Session>("POST", "/api/v1/auth/setup", {
        json: { token, email: "Ada@Studio.example", password: PASSWORD, ...change },
      });
    const signUp = () =>
      nobody.call("POST", "/api/v1/auth/signup", { json: { email: "b@example.test", password: PASSWORD } });

    expect(await setUp({ billing: "free" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "billing"] }] },
    });
    expect(await setUp({ token: `${token}x` })).toMatchObject({ status: 401, body: { code: "unauthenticated" } });
    expect(await setUp({ password: "password123" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "password"], type: "value_error", input: null }] },
    });
    expect(await setUp({ email: "ada" })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "email"] }] },
    });
    expect(await signUp()).toMatchObject({ status: 403, body: { code: "forbidden" } });

    const [first, second] = await Promise.all([
      setUp({ billing: "off" }),
      setUp({ email: "eve@example.test", billing: "off" }),
    ]);
    expect([first.status, second.status].sort()).toEqual([201, 409]);
    const done = first.status === 201 ? first : second;
    expect(done.headers.get("location")).toBe("/api/v1/users/me");
    expect(readCookie(done)).toBe(done.body.token);
    const admin = createClient(server.url, done.body.token, done.body.user.id);
    expect(await admin.must("GET", "/api/v1/users/me")).toEqual(done.body.user);
    expect(await admin.must<{ items: unknown[] }>("GET", "/api/v1/credits/history")).toMatchObject({
      items: [{ type: "grant", delta: 6000 }],
    });

    expect(await setUp()).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(await setUp({ token: "x" })).toMatchObject({ status: 409 });
    expect(await Bun.file(join(server.dataDir, "setup-url")).exists()).toBe(false);
    expect(await methods()).toMatchObject({ is_set_up: true, signup: "open" });
    expect(await nobody.must("GET", "/api/v1/billing")).toEqual({ mode: "off", is_configured: false });
    expect((await signUp()).status).toBe(201);
    expect(await signUp()).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect((await listAuditLog(server)).map(({ action }) => action)).toEqual([
      "server.set_up",
      "session.created",
      "user.signed_up",
      "session.created",
    ]);
  });

  test("keeps its link over a restart", async () => {
    await using server = await harness({ PUBLIC_URL: "https://cut.example" });
    const url = await server.services().setup.url();
    expect(url).toStartWith("https://cut.example/setup#");
    await server.restart();
    expect(await server.services().setup.url()).toBe(url);
  });
});

describe("on a server that is set up", () => {
  let server: Harness;
  let anna: Client;
  beforeAll(async () => {
    server = await harness();
    await createAdmin(server);
    anna = await withPassword(server, await server.user());
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const login = (email: string, password: string, headers: Record<string, string> = {}): Promise<Reply<Session>> =>
    server.nobody.call<Session>("POST", "/api/v1/auth/login", { json: { email, password }, headers });

  test("sign-up is closed by default", async () => {
    const json = { email: "new@example.test", password: PASSWORD };
    expect(await server.nobody.call("POST", "/api/v1/auth/signup", { json })).toMatchObject({
      status: 403,
      body: { code: "forbidden" },
    });
  });

  test("sign-in answers with a session for the header and the cookie", async () => {
    const signedIn = await login(` ${emailOf(anna).toUpperCase()} `, PASSWORD, { "User-Agent": "Browser 1" });
    expect(signedIn.status).toBe(200);
    const { token, expires_at, user } = signedIn.body;
    expect(Object.keys(signedIn.body)).toEqual(["token", "expires_at", "user"]);
    expect(user).toMatchObject({ id: anna.userId, email: emailOf(anna) });
    expect(Math.abs(Date.parse(expires_at) - server.services().now() - 30 * DAY_MS)).toBeLessThan(10_000);
    expect(signedIn.headers.get("cache-control")).toBe("no-store");
    expect(signedIn.headers.get("set-cookie")).toBe(
      `service_session=${token}; Path=/; Max-Age=15552000; HttpOnly; SameSite=Lax`,
    );
    const byHeader = createClient(server.url, token, anna.userId);
    expect((await byHeader.call("GET", "/api/v1/projects")).status).toBe(200);
    const cookie = { Cookie: `theme=dark; service_session=${token}` };
    expect((await server.nobody.call("GET", "/api/v1/projects", { headers: cookie })).status).toBe(200);
    expect(await byHeader.call("GET", "/v1/projects")).toMatchObject({ status: 401 });
    expect((await server.nobody.call("GET", "/v1/projects", { headers: cookie })).status).toBe(401);
  });

  test.each([
    ["a wrong password", () => [emailOf(anna), "wrong horse battery"]],
    ["an empty account", () => ["nobody@example.test", PASSWORD]],
    ["no email address", () => ["nobody", PASSWORD]],
    ["another case of the password", () => [emailOf(anna), PASSWORD.toUpperCase()]],
    ["a password that is too long to be one", () => [emailOf(anna), "x".repeat(1024)]],
  ])("%s is refused with the same words", async (_, credentials) => {
    const [email, password] = credentials() as [string, string];
    const { status, body, headers } = await login(email, password);
    expect([status, body as unknown]).toEqual([
      401,
      { detail: "Email address or password is wrong.", code: "unauthenticated" },
    ]);
    expect(headers.get("set-cookie")).toBeNull();
  });

  test.each<[string, unknown]>([
    ["without a password", { email: "a@b" }],
    ["with a password of another type", { email: "a@b", password: 5 }],
    ["with a secret under an unknown name", { email: "a@b", password: "x", passwort: "my secret" }],
    ["with a list as password", { email: "a@b", password: ["my secret"] }],
    ["with a text as body", "my secret"],
    ["with a password that is too long", { email: "a@b", password: `my secret${"x".repeat(2000)}` }],
    ["with an email address that is too long", { email: "x".repeat(321), password: "my secret" }],
  ])("a sign-in %s is 422 and repeats no secret", async (_, json) => {
    const { status, body } = await server.nobody.call("POST", "/api/v1/auth/login", { json });
    expect([status, body]).toEqual([422, { detail: expect.any(Array) }]);
    expect(JSON.stringify(body)).not.toContain("my secret");
  });

  test("a disabled account cannot sign in, and its sessions are refused", async () => {
    const bert = await withPassword(server, await server.user());
    const session = await startSession(server, bert);
    expect((await session.call("GET", "/api/v1/users/me")).status).toBe(200);
    await disableUser(server.services(), { email: emailOf(bert), disabled: true });
    expect(await session.call("GET", "/api/v1/users/me")).toMatchObject({ status: 401 });
    expect((await login(emailOf(bert), PASSWORD)).body as unknown).toEqual({
      detail: "Email address or password is wrong.",
      code: "unauthenticated",
    });
  });
});
