/** Accounts at sign-in providers: their owner after an address is confirmed, and how they are listed and removed. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { newId } from "../../src/lib/ids";
import { insertOidcIdentity, listOidcIdentities } from "../../src/store/oidc-identities";
import { insertUser, setEmailVerified } from "../../src/store/users";
import { createPasswordResetLink } from "../../src/work/identity/password-reset";
import { type SmtpReceiver, startSmtpReceiver } from "../smtp";
import { createAdmin, listAuditLog, PASSWORD, startSession, withPassword } from "./accounts";
import type { Client } from "./client";
import { type Harness, PATIENCE_MS } from "./harness";
import {
  createBrowser,
  guests,
  refusal,
  signIn,
  signInUser,
  start,
  startProviders,
  stopProviders,
  studio,
  studioAccounts,
  verified,
} from "./oidc-providers";
import { attempt } from "./outcome";

setDefaultTimeout(PATIENCE_MS);

const IDENTITIES = "/api/v1/users/me/identities";
const NEW_PASSWORD = "staple horse correct";

type Identities = { items: { id: string; provider: string; email: string }[]; total: number };

let smtp: SmtpReceiver;
let server: Harness;
beforeAll(async () => {
  await startProviders();
  smtp = await startSmtpReceiver();
  server = await start({ SMTP_URL: smtp.url });
  await createAdmin(server);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await smtp[Symbol.asyncDispose]();
  await stopProviders();
});

const post = (path: string, json: object) => server.nobody.call("POST", `/api/v1/${path}`, { json });
const readToken = async (to: string, after = 0) => /#(\w{43})/.exec((await smtp.mailTo(to, after)).text!)![1]!;
const countIdentities = async (userId: string) =>
  (await listOidcIdentities(server.services().store.read, userId)).length;

/** An account of an older version: a stranger has signed in with an address that the provider had not confirmed. */
async function createStrangersAccount(login: string, password: string | null): Promise<Client & { email: string }> {
  const { store, now } = server.services();
  const id = newId();
  const email = `${login}@studio.example`;
  studioAccounts[login] = { email };
  await store.write(async (tx) => {
    await insertUser(tx, { id, email, created_at: now() });
    const identity = { id: newId(), user_id: id, issuer: studio.issuer, subject: login, email, created_at: now() };
    await insertOidcIdentity(tx, identity);
  });
  const user = await startSession(server, { userId: id });
  if (password !== null) await withPassword(server, user);
  expect((await signInUser(login, "Studio", server)).id).toBe(id);
  return { ...user, email };
}

describe("an identity that was linked before the address was confirmed ends", () => {
  const signInAgain = async (login: string) => refusal(await signIn(login, "Studio", createBrowser(server)));

  test("with the reset of the password", async () => {
    const stranger = await createStrangersAccount("reset", null);
    await post("auth/password/forgot", { email: stranger.email });
    const token = await readToken(stranger.email);
    expect((await post("auth/password/reset", { token, password: NEW_PASSWORD })).status).toBe(204);
    expect(await signInAgain("reset")).toBe("403 forbidden");
    expect((await post("auth/login", { email: stranger.email, password: NEW_PASSWORD })).status).toBe(200);
  });

  test("with a reset link of an administrator", async () => {
    const stranger = await createStrangersAccount("handed-over", null);
    const admin = await createAdmin(server);
    const { store } = server.services();
    const user = { id: stranger.userId, email: stranger.email };
    const { url } = await store.write((tx) => createPasswordResetLink(server.services(), tx, user, admin.userId));
    const json = { token: url.split("#")[1], password: NEW_PASSWORD };
    expect((await post("auth/password/reset", json)).status).toBe(204);
    expect(await signInAgain("handed-over")).toBe("403 forbidden");
  });

  test("with the confirmation of the address, unless it is the only way to sign in", async () => {
    for (const [login, password, remaining] of [
      ["confirmed", PASSWORD, 0],
      ["only", null, 1],
    ] as const) {
      const user = await createStrangersAccount(login, password);
      expect((await user.call("POST", "/api/v1/users/me/email-verification")).status).toBe(202);
      const token = await readToken(user.email);
      expect(await attempt(user, "POST", "/api/v1/auth/verify-email", { token })).toBe("204");
      expect([login, await countIdentities(user.userId)]).toEqual([login, remaining]);
    }
  });
});

test("an address that only looks like that of an account does not link to it", async () => {
  const kate = await server.user();
  const { store, now } = server.services();
  const email = "kate@studio.example";
  await store.write(async (tx) => {
    await tx.run(`UPDATE users SET email = '${email}' WHERE id = '${kate.userId}'`);
    await setEmailVerified(tx, kate.userId, now());
  });
  // The Kelvin sign, whose lower case is the letter k.
  studioAccounts.kelvin = { email: "\u212Aate@studio.example", email_verified: true };
  studioAccounts.kate = { email: " Kate@Studio.example ", email_verified: true };
  expect(refusal(await signIn("kelvin", "Studio", createBrowser(server)))).toBe("403 forbidden");
  expect((await signInUser("kate", "Studio", server)).id).toBe(kate.userId);
});

test("identities are listed and removed, which ends the other sessions; a mail says when one is linked or removed", async () => {
  studioAccounts.lena = verified("lena");
  const lena = await withPassword(server, await server.user());
  const { store, now } = server.services();
  const email = "lena@studio.example";
  await store.write(async (tx) => {
    await tx.run(`UPDATE users SET email = '${email}' WHERE id = '${lena.userId}'`);
    await setEmailVerified(tx, lena.userId, now());
  });
  expect((await signInUser("lena", "Studio", server)).id).toBe(lena.userId);
  expect((await smtp.mailTo(email)).subject).toBe("A sign-in provider was linked");
  const [session, other] = [await startSession(server, lena), await startSession(server, lena)];
  const { items, total } = await session.must<Identities>("GET", IDENTITIES);
  expect(items).toEqual([
    {
      id: expect.any(String),
      provider: "Studio",
      issuer: studio.issuer,
      email,
      created_at: expect.any(String),
      last_sign_in_at: expect.any(String),
    } as Identities["items"][0],
  ]);
  expect(total).toBe(1);
  const path = `${IDENTITIES}/${items[0]!.id}`;
  const stranger = await startSession(server, await server.user());
  expect(await attempt(stranger, "DELETE", path)).toBe("404 not_found");
  expect(await attempt(lena, "GET", IDENTITIES)).toBe("403 forbidden");
  expect(await attempt(lena, "DELETE", path)).toBe("403 forbidden");
  expect(await attempt(session, "DELETE", path)).toBe("204");
  expect(await attempt(session, "DELETE", path)).toBe("404 not_found");
  expect(await attempt(other, "GET", "/api/v1/users/me")).toBe("401 unauthenticated");
  expect((await session.must<Identities>("GET", IDENTITIES)).items).toEqual([]);
  expect((await smtp.mailTo(email, 1)).subject).toBe("A sign-in provider was removed");
  const actions = (await listAuditLog(server)).filter(({ target_id: id }) => id === lena.userId);
  expect(actions.map(({ action }) => action)).toEqual(["user.identity_linked", "user.identity_removed"]);
  // The provider may link it again: both sides have confirmed the address.
  expect((await signInUser("lena", "Studio", server)).id).toBe(lena.userId);
});

test("the last way to sign in stays: identities of providers that are not configured do not count", async () => {
  studioAccounts.mia = verified("mia", ["editors"]);
  const mia = await startSession(server, { userId: (await signInUser("mia", "Studio", server)).id });
  const add = (issuer: string) =>
    server
      .services()
      .store.write((tx) =>
        insertOidcIdentity(tx, { id: newId(), user_id: mia.userId, issuer, subject: "mia", created_at: 1 }),
      );
  await add("https://gone.example/realm");
  const { items } = await mia.must<Identities>("GET", IDENTITIES);
  expect(items.map(({ provider }) => provider)).toEqual(["Studio", "gone.example"]);
  const remove = (index: number) => attempt(mia, "DELETE", `${IDENTITIES}/${items[index]!.id}`);
  expect(await remove(0)).toBe("409 conflict");
  await add(guests.issuer);
  expect([await remove(0), await remove(1)]).toEqual(["204", "204"]);
});
