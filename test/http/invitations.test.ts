/** Invitations, through a real mail server. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import { newId } from "../../src/lib/ids";
import { readBalance } from "../../src/store/credits";
import { insertOidcIdentity, listOidcIdentities } from "../../src/store/oidc-identities";
import { findUserById, recordSignIn } from "../../src/store/users";
import { createInvitation } from "../../src/work/identity/invitations";
import type { SmtpReceiver } from "../smtp";
import { createAdmin, emailOf, PASSWORD, startSession, withPassword } from "./accounts";
import type { Client } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { type MailingServer, PUBLIC_URL, startMailingServer } from "./with-mail";
import { addMember, createWorkspace } from "./workspace-calls";

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
    expect(url).toBe(`${PUBLIC_URL}/invitation#${token}`);
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

  test("to an account that a provider has signed in meanwhile is no way around it", async () => {
    const anna = await server.user();
    const { url } = await invite(emailOf(anna), { userId: anna.userId });
    await server.services().store.write((tx) => recordSignIn(tx, anna.userId, server.services().now()));
    expect((await post("auth/invitation", { token: url.split("#")[1], password: PASSWORD })).status).toBe(401);
    expect((await findUser(anna.userId))!.password_hash).toBeNull();
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

  test("can be made 50 times an hour by a user, without a limit by an administrator", async () => {
    const ben = (await findUser((await member()).userId))!;
    const address = () => `${newId()}@example.test`;
    for (let times = 0; times < 50; times++) await invite(address(), { invitedBy: ben });
    await expect(invite(address(), { invitedBy: ben })).rejects.toMatchObject({ code: "rate_limited" });
    await invite(address());
  });

  test("creates at most 20 accounts an hour from an address where sign-up is open, but for those of administrators", async () => {
    const ben = (await findUser((await member()).userId))!;
    const headers = { "X-Forwarded-For": "198.51.100.7" };
    const accept = async (invitedBy?: typeof ben) => {
      const workspace = invitedBy && ({ id: ben.id, role: "viewer" } as const);
      const { url } = await invite(`${newId()}@example.test`, { ...(invitedBy && { invitedBy, workspace }) });
      return (await post("auth/invitation", { token: url.split("#")[1], password: PASSWORD }, headers)).status;
    };
    for (let times = 0; times < 20; times++) expect(await accept(ben)).toBe(201);
    expect([await accept(ben), await accept()]).toEqual([429, 201]);
  });

  test("expires after 7 days", async () => {
    const email = `${newId()}@example.test`;
    const { url } = await invite(email);
    server.advance(7 * 24 * HOUR);
    const token = url.split("#")[1];
    expect((await post("auth/invitation", { token, password: PASSWORD })).status).toBe(401);
  });

  test("of a former administrator confirms no address and grants no credits", async () => {
    await using closed = await harness();
    const { store } = closed.services();
    const [admin, other] = [await createAdmin(closed), await startSession(closed, await createAdmin(closed))];
    const workspace = await (await startSession(closed, admin)).must<{ id: string }>("POST", "/api/v1/workspaces", {
      json: { name: "Studio" },
    });
    const invitedBy = (await findUserById(store.read, admin.userId))!;
    const email = "eve@example.test";
    const { url } = await store.write((tx) =>
      createInvitation(closed.services(), tx, {
        email,
        userId: null,
        workspace: { id: workspace.id, role: "viewer" },
        invitedBy,
      }),
    );
    await other.must("PATCH", `/api/v1/admin/users/${admin.userId}`, { json: { role: "member" } });
    const json = { token: url.split("#")[1], password: PASSWORD };
    const accepted = await closed.nobody.call<{ user: { id: string } }>("POST", "/api/v1/auth/invitation", { json });
    // An owner of a workspace may still invite to it.
    expect(accepted.status).toBe(201);
    const { id } = accepted.body.user;
    expect((await findUserById(store.read, id))!.email_verified_at).toBeNull();
    expect(await readBalance(store.read, id)).toBe(0);
  });

  test("of an administrator confirms the address of an account that accepts with the link; of a former one it does not", async () => {
    const [admin, other] = [await createAdmin(server), await startSession(server, await createAdmin(server))];
    const session = await startSession(server, admin);
    const { id: workspace } = await createWorkspace(session);
    for (const isFormer of [false, true]) {
      const guest = await startSession(server, await member());
      const { issuer, subject } = { issuer: "https://id.example", subject: guest.userId };
      const identity = { id: newId(), user_id: guest.userId, issuer, subject, email: null, created_at: 1 };
      await server.services().store.write((tx) => insertOidcIdentity(tx, identity));
      const { body } = await addMember(session, workspace, emailOf(guest));
      if (isFormer) await other.must("PATCH", `/api/v1/admin/users/${admin.userId}`, { json: { role: "member" } });
      const token = body.invitation_url!.split("#")[1];
      await guest.must("POST", "/api/v1/invitations/accept", { json: { token } });
      expect((await findUser(guest.userId))!.email_verified_at === null).toBe(isFormer);
      // Identities that a stranger may have linked before are removed with the first proof of the address.
      expect(await listOidcIdentities(server.services().store.read, guest.userId)).toHaveLength(isFormer ? 1 : 0);
    }
  });

  test("of a former owner of a workspace does not work", async () => {
    const ben = (await findUser((await member()).userId))!;
    const email = `${newId()}@example.test`;
    const { url } = await invite(email, { invitedBy: ben, workspace: { id: ben.id, role: "viewer" } });
    await server
      .services()
      .store.write((tx) => tx.run(sql`UPDATE workspace_members SET role = 'editor' WHERE user_id = ${ben.id}`));
    const token = url.split("#")[1];
    expect((await post("auth/invitation", { token, password: PASSWORD })).status).toBe(401);
  });
});
