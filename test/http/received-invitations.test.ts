/** Invitations to workspaces for people who have an account. They become members only by accepting. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { newId } from "../../src/lib/ids";
import { setEmailVerified } from "../../src/store/users";
import { grantWorkspace } from "../unit/store/test-store";
import { until } from "../until";
import { createAdmin, emailOf, startSession } from "./accounts";
import { type Client, createClient } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { addMember, attempt, createWorkspace, inside, join, type Listed } from "./workspace-calls";

setDefaultTimeout(PATIENCE_MS);

const DAY_MS = 24 * 3600 * 1000;

let server: Harness;
let anna: Client;
beforeAll(async () => {
  server = await harness();
  await createAdmin(server);
  anna = await startSession(server, await server.user());
});
afterAll(() => server[Symbol.asyncDispose]());

type Received = { id: string; workspace: { id: string; name: string }; role: string };
type Notice = { id: string; type: string; payload: { invitation_id: string }; read_at: string | null };

const unconfirmed = async () => startSession(server, await server.user());
const confirm = (user: Client) => server.services().store.write((tx) => setEmailVerified(tx, user.userId, 1));
async function confirmed(): Promise<Client> {
  const user = await unconfirmed();
  await confirm(user);
  return user;
}
const list = async (user: Client) => (await user.must<Listed<Received>>("GET", "/api/v1/invitations")).items;
const listNotices = async (user: Client) =>
  (await user.must<Listed<Notice>>("GET", "/api/v1/notifications")).items.filter(
    ({ type }) => type === "workspace_invitation",
  );
const tokenOf = (url: string | null) => new URL(url!).hash.slice(1);

test("an account that signed up with somebody else's address gets nothing until the address is confirmed", async () => {
  const mallory = await unconfirmed();
  const { id } = await createWorkspace(anna);
  expect((await addMember(anna, id, emailOf(mallory))).status).toBe(201);
  expect(await list(mallory)).toEqual([]);
  const waiting = await anna.must<Listed<{ id: string }>>("GET", `/api/v1/workspaces/${id}/invitations`);
  const path = `/invitations/${waiting.items[0]!.id}`;
  for (const [method, called] of [
    ["GET", `/workspaces/${id}`],
    ["GET", `/workspaces/${id}/members`],
    ["POST", `${path}/accept`],
    ["POST", `${path}/decline`],
  ] as const)
    expect([called, await attempt(mallory, method, called)]).toEqual([called, "404 not_found"]);
  expect(await attempt(mallory, "GET", "/projects", inside(id))).toBe("404 not_found");
  expect(await listNotices(mallory)).toEqual([]);

  await confirm(mallory);
  await until("the notification", async () => (await listNotices(mallory)).length === 1);
  expect(await attempt(mallory, "POST", `${path}/accept`)).toBe("200");
  expect((await listNotices(mallory))[0]!.read_at).not.toBeNull();
  expect(await attempt(mallory, "GET", "/projects", inside(id))).toBe("200");
});

test("who has the link joins with the account of its address only, and the list says that it is not confirmed", async () => {
  const [guest, other] = [await unconfirmed(), await confirmed()];
  const { id } = await createWorkspace(anna);
  const { body } = await addMember(anna, id, emailOf(guest), "viewer");
  const accept = (user: Client) =>
    attempt(user, "POST", "/invitations/accept", { json: { token: tokenOf(body.invitation_url) } });
  expect(await accept(other)).toBe("404 not_found");
  expect(await accept(guest)).toBe("200");
  expect(await accept(guest)).toBe("404 not_found");
  const members = await anna.must<Listed<object>>("GET", `/api/v1/workspaces/${id}/members`);
  expect(members.items).toMatchObject([
    { user_id: anna.userId },
    { user_id: guest.userId, role: "viewer", email_verified_at: null },
  ]);
});

test("the answer is the same for known and unknown addresses", async () => {
  const { id } = await createWorkspace(anna);
  const shapes = [];
  for (const email of [emailOf(await confirmed()), emailOf(await unconfirmed()), `${newId()}@example.test`]) {
    const { status, headers, body } = await addMember(anna, id, email, "viewer");
    const { member, invitation_url, expires_at } = body;
    shapes.push([status, headers.get("location"), Object.keys(body), member, typeof invitation_url, typeof expires_at]);
    const token = tokenOf(invitation_url);
    const shown = await server.nobody.call<object>("POST", "/api/v1/invitations/read", { json: { token } });
    expect([shown.status, Object.keys(shown.body)]).toEqual([
      200,
      ["email", "workspace", "role", "invited_by", "expires_at"],
    ]);
  }
  expect(new Set(shapes.map((shape) => JSON.stringify(shape))).size).toBe(1);
  const { items } = await anna.must<Listed<object>>("GET", `/api/v1/workspaces/${id}/invitations`);
  expect(new Set(items.map((item) => Object.keys(item).join())).size).toBe(1);
});

test("a user invited as an owner fifty times can still create workspaces and delete the account", async () => {
  const guest = await confirmed();
  for (let n = 0; n < 50; n++) {
    const by = await startSession(server, await server.user());
    await addMember(by, (await createWorkspace(by)).id, emailOf(guest), "owner");
  }
  expect((await guest.must<Listed<object>>("GET", "/api/v1/invitations")).total).toBe(50);
  await createWorkspace(guest).then(({ id }) => guest.must("DELETE", `/api/v1/workspaces/${id}`));
  // Those of others that one owns do not count either.
  for (;;) {
    const page = await list(guest);
    if (page.length === 0) break;
    for (const { id } of page) expect(await attempt(guest, "POST", `/invitations/${id}/accept`)).toBe("200");
  }
  expect(await attempt(guest, "POST", "/workspaces", { json: { name: "Mine" } })).toBe("201");
  const another = await confirmed();
  const { id } = await createWorkspace(anna);
  await addMember(anna, id, emailOf(another), "owner");
  expect(await attempt(another, "DELETE", "/users/me")).toBe("204");
});

test("an invitation is declined, and ends with the role of who sent it", async () => {
  const [guest, owner] = [await confirmed(), await unconfirmed()];
  const { id } = await createWorkspace(anna);
  await join(anna, id, owner, "owner");
  const { body } = await addMember(anna, id, emailOf(guest));
  const [first] = await list(guest);
  expect(first).toMatchObject({ workspace: { id, name: "Studio" }, role: "editor" });
  expect(await attempt(guest, "POST", `/invitations/${first!.id}/decline`)).toBe("204");
  const json = { token: tokenOf(body.invitation_url) };
  expect(await attempt(guest, "POST", "/invitations/accept", { json })).toBe("404 not_found");
  await addMember(owner, id, emailOf(guest));
  expect(await list(guest)).toHaveLength(1);
  await anna.must("DELETE", `/api/v1/workspaces/${id}/members/${owner.userId}`);
  expect(await list(guest)).toEqual([]);
});

test("accounts that members invite while sign-up is closed get no credits, nor do their workspaces", async () => {
  const { id } = await createWorkspace(anna);
  const { body } = await addMember(anna, id, `${newId()}@example.test`);
  const json = { token: tokenOf(body.invitation_url), password: "correct horse battery" };
  const { token, user } = await server.nobody.must<{ token: string; user: { id: string } }>(
    "POST",
    "/api/v1/auth/invitation",
    { json },
  );
  const puppet = createClient(server.url, token, user.id);
  const balance = async () => {
    const { id: farm } = await createWorkspace(puppet);
    return (await puppet.must<{ credits_balance: number }>("GET", `/api/v1/workspaces/${farm}`)).credits_balance;
  };
  expect(await balance()).toBe(0);
  // From the first credits of the account on, it is like any other.
  await server.services().store.write((tx) => grantWorkspace(tx, user.id, 1));
  expect(await balance()).toBe(server.services().config.signupCredits);
});

test("a new workspace starts with credits, once a day for each user", async () => {
  const user = await unconfirmed();
  const balance = async () => {
    const { id } = await createWorkspace(user);
    const { credits_balance } = await user.must<{ credits_balance: number }>("GET", `/api/v1/workspaces/${id}`);
    await user.must("DELETE", `/api/v1/workspaces/${id}`);
    return credits_balance;
  };
  const granted = server.services().config.signupCredits;
  expect(granted).toBeGreaterThan(0);
  expect([await balance(), await balance()]).toEqual([granted, 0]);
  server.advance(DAY_MS);
  expect(await balance()).toBe(granted);
});
