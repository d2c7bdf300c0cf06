/** Sign-in at real OpenID Connect providers, as a browser does it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { generateSync } from "otplib";
import { newId } from "../../src/lib/ids";
import { insertUser, type User } from "../../src/store/users";
import { disableUser } from "../../src/work/access/command-accounts";
import { createAdmin, listAuditLog, startSession } from "./accounts";
import { harness, PATIENCE_MS } from "./harness";
import {
  createBrowser,
  goTo,
  PUBLIC_URL,
  refusal,
  START,
  server,
  signIn,
  signInUser,
  start,
  startProviders,
  startUrl,
  stopProviders,
  studio,
  studioAccounts,
  toToml,
  verified,
} from "./oidc-providers";

setDefaultTimeout(PATIENCE_MS);
beforeAll(startProviders);
afterAll(stopProviders);

async function invite(email: string, change: Partial<User> = {}): Promise<User> {
  const { store, now } = server.services();
  return store.write((tx) => insertUser(tx, { id: newId(), email, created_at: now(), ...change }));
}

test("the sign-in page lists the providers, with links that lead there and back with a session", async () => {
  const { oidc } = await server.nobody.must<{ oidc: { name: string; start_url: string }[] }>(
    "GET",
    "/api/v1/auth/methods",
  );
  expect(oidc).toEqual([
    { name: "Studio", start_url: `${PUBLIC_URL}${START}?provider=Studio` },
    { name: "Guests", start_url: `${PUBLIC_URL}${START}?provider=Guests` },
  ]);
  const browser = createBrowser();
  const leaving = await browser.open(oidc[0]!.start_url);
  expect(leaving.setCookie).toMatch(
    /^service_oidc=[0-9A-Za-z]{43}; Path=\/api\/v1\/auth\/oidc; Max-Age=600; HttpOnly; SameSite=Lax$/,
  );
  const url = new URL(leaving.location);
  expect(url.searchParams.get("redirect_uri")).toBe(`${PUBLIC_URL}/api/v1/auth/oidc/callback`);
  expect(url.searchParams.get("code_challenge_method")).toBe("S256");
  const back = await browser.open((await studio.signIn(leaving.location, "ada")).href);
  expect([back.status, back.location]).toEqual([303, "/"]);
  expect(back.setCookie).toMatch(/^service_session=[^;]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);
});

test("over TLS, no other site of the domain can set the cookies of a sign-in", async () => {
  await using proxied = await start({ TRUSTED_PROXIES: "127.0.0.1" });
  const browser = createBrowser(proxied);
  const https = { "X-Forwarded-Proto": "https" };
  const leaving = await browser.open(`${START}?provider=Studio`, https);
  expect(leaving.setCookie).toMatch(
    /^__Host-service_oidc=[0-9A-Za-z]{43}; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  );
  const back = (await studio.signIn(leaving.location, "ada")).href;
  const secret = browser.cookies.get("__Host-service_oidc")!;
  const planted = { ...https, cookie: `service_oidc=${secret}` };
  expect((await browser.open(back, planted)).setCookie).toBeNull();
  expect((await browser.open(back, https)).status).toBe(303);
  expect([...browser.cookies.keys()]).toEqual(["__Host-service_oidc", "__Host-service_session", "service_session"]);
});

describe("accounts:", () => {
  test("an administrator of the group gets one; the next sign-in finds it, whatever the address is now", async () => {
    const first = await signInUser("kurt");
    expect(first).toMatchObject({
      email: "kurt@studio.example",
      first_name: "kurt",
      is_admin: true,
      password_hash: null,
    });
    expect(first.email_verified_at).not.toBeNull();
    studioAccounts.kurt = { ...studioAccounts.kurt, email: "moved@studio.example" };
    expect((await signInUser("kurt")).id).toBe(first.id);
    const entries = (await listAuditLog(server)).filter(({ target_id: id }) => id === first.id);
    expect(entries.map(({ action }) => action)).toEqual(["user.signed_up", "user.role_changed"]);
  });

  test("everybody else gets one only where sign-up, or the provider, is open", async () => {
    expect(refusal(await signIn("ben"))).toBe("403 forbidden");
    expect((await signInUser("nora", "Guests")).email).toBe("nora@studio.example");
    await using open = await start({ SIGNUP: "open" });
    expect(refusal(await signIn("ben", "Studio", createBrowser(open)))).toBe("403 forbidden");
    await createAdmin(open);
    expect(await signInUser("ben", "Studio", open)).toMatchObject({ email: "ben@studio.example", is_admin: false });
    for (const login of ["finn", "gina"])
      expect(refusal(await signIn(login, "Studio", createBrowser(open)))).toBe("403 forbidden");
  });

  test("nobody gets one for an address that the provider has not confirmed, whether or not it has an account", async () => {
    await using open = await start({ SIGNUP: "open" });
    await createAdmin(open);
    const answers = await Promise.all(
      ["cleo", "emil", "kim"].map((login) => signIn(login, "Studio", createBrowser(open))),
    );
    expect(answers.map(refusal)).toEqual(Array(3).fill("403 forbidden"));
    const { store, now } = open.services();
    await store.write((tx) => insertUser(tx, { id: newId(), email: "cleo@studio.example", created_at: now() }));
    expect((await signIn("cleo", "Studio", createBrowser(open))).body).toBe(answers[0]!.body);
  });

  test("the same subject at two providers is two people", async () => {
    const [first, second] = [await signInUser("ada"), await signInUser("ada", "Guests")];
    expect(first.id).not.toBe(second.id);
    expect(second).toMatchObject({ email: "guest-ada@studio.example", is_admin: false });
  });

  test("an account is linked only if both sides have verified the address", async () => {
    const now = server.services().now();
    const cleo = await invite("cleo@studio.example", { password_hash: "x", email_verified_at: null });
    // The provider has not verified it; the account has not.
    expect(refusal(await signIn("cleo"))).toBe("403 forbidden");
    expect(refusal(await signIn("cleo-2"))).toBe("403 forbidden");
    await server
      .services()
      .store.write((tx) => tx.run(`UPDATE users SET email_verified_at = ${now} WHERE id = '${cleo.id}'`));
    expect(refusal(await signIn("cleo"))).toBe("403 forbidden");
    expect((await signInUser("cleo-2")).id).toBe(cleo.id);
  });

  test("an unused invited account belongs to the owner of the address", async () => {
    const invited = await invite("hugo@studio.example");
    expect(await signInUser("hugo")).toMatchObject({ id: invited.id, email_verified_at: expect.any(Number) });
  });

  test("another subject with the same address is another person", async () => {
    const invited = await invite("dora@studio.example", { email_verified_at: 1 });
    expect((await signInUser("dora")).id).toBe(invited.id);
    expect(refusal(await signIn("dora-2"))).toBe("403 forbidden");
  });

  test("a refusal does not say whether the address has an account", async () => {
    await invite("ines@studio.example", { password_hash: "x" });
    expect((await signIn("ines")).body).toBe((await signIn("ben")).body);
  });

  test("a disabled account is refused", async () => {
    await invite("jana@studio.example", { email_verified_at: 1 });
    await signInUser("jana");
    await disableUser(server.services(), { email: "jana@studio.example", disabled: true });
    expect(refusal(await signIn("jana"))).toBe("401 unauthenticated");
  });

  test("an account in its grace period can sign in, to be restored", async () => {
    const nora = await signInUser("nora", "Guests");
    await server.services().store.write((tx) => tx.run(`UPDATE users SET deleted_at = 1 WHERE id = '${nora.id}'`));
    expect((await signInUser("nora", "Guests")).id).toBe(nora.id);
  });

  test("two first sign-ins at once make one account", async () => {
    await using own = await start();
    const users = await Promise.all([signInUser("ada", "Studio", own), signInUser("ada", "Studio", own)]);
    expect(users[0]!.id).toBe(users[1]!.id);
  });
});

test("the group makes administrators and ordinary users at each sign-in, but never removes the last administrator", async () => {
  await using own = await start();
  const ada = await signInUser("ada", "Studio", own);
  expect(ada.is_admin).toBe(true);
  studioAccounts.ada = verified("ada", ["cutters"]);
  expect((await signInUser("ada", "Studio", own)).is_admin).toBe(true);
  await createAdmin(own);
  expect((await signInUser("ada", "Studio", own)).is_admin).toBe(false);
  studioAccounts.ada = verified("ada", ["editors"]);
  expect((await signInUser("ada", "Studio", own)).is_admin).toBe(true);
  const changes = (await listAuditLog(own)).filter(({ action }) => action === "user.role_changed");
  expect(changes.map(({ details }) => JSON.parse(details!))).toEqual([
    { role: "admin", provider: "Studio" },
    { role: "member", provider: "Studio" },
    { role: "admin", provider: "Studio" },
  ]);
});

test("an account with a second factor is asked for it after the provider", async () => {
  await using own = await start();
  const ada = await signInUser("ada", "Studio", own);
  const client = await startSession(own, { userId: ada.id });
  const { secret } = await client.must<{ secret: string }>("POST", "/api/v1/users/me/two-factor");
  const code = () => generateSync({ secret, epoch: Math.floor(own.services().now() / 1000) });
  await client.must("POST", "/api/v1/users/me/two-factor/confirm", { json: { code: code() } });

  own.advance(30_000);
  const page = await signIn("ada", "Studio", createBrowser(own));
  expect([page.status, page.setCookie]).toEqual([303, null]);
  const { pathname, searchParams, hash } = new URL(page.location, PUBLIC_URL);
  expect([pathname, searchParams.get("redirect")]).toEqual(["/sign-in", "/projects?x=1"]);
  const answer = new URLSearchParams(hash.slice(1));
  expect(answer.get("methods")).toBe("totp recovery");
  const json = { challenge: answer.get("challenge"), code: code() };
  expect(await own.nobody.call("POST", "/api/v1/auth/login/two-factor", { json })).toMatchObject({
    status: 200,
    body: { user: { id: ada.id } },
  });
});

test("two tabs of one browser can both sign in", async () => {
  const browser = createBrowser();
  const [first, second] = [await goTo(browser, "ada"), await goTo(browser, "ada", "Guests")];
  expect((await browser.open(first)).status).toBe(303);
  expect((await browser.open(second)).status).toBe(303);
});

test("a browser gets an error page without a script", async () => {
  const browser = createBrowser();
  const page = await browser.open("/api/v1/auth/oidc/callback?state=%3Cscript%3E", { accept: "text/html,*/*" });
  expect(page.status).toBe(400);
  expect(page.body).toContain("Sign-in was not started in this browser");
  expect(page.body).not.toContain("<script");
});

test("a provider that does not respond is 503, and nothing of a sign-in is stored in clear", async () => {
  const away = toToml("Away", { ...studio, issuer: "http://127.0.0.1:1" });
  await using own = await harness({ PUBLIC_URL }, { configuration: away + toToml("Studio", studio) });
  expect(refusal(await createBrowser(own).open(startUrl("Away")))).toBe("503 upstream_unavailable");
  const browser = createBrowser(own);
  const { location } = await browser.open(startUrl());
  const { store } = own.services();
  const copy = `${own.dataDir}/copy.db`;
  await store.copyTo(copy);
  const bytes = await Bun.file(copy).text();
  const { state, nonce } = Object.fromEntries(new URL(location).searchParams);
  for (const secret of [state!, nonce!, browser.cookies.get("service_oidc")!]) expect(bytes).not.toContain(secret);
});
