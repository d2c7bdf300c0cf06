/** Links of renders: listed, revoked, and ended with the access of who made them. */
import { afterAll, beforeAll, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { rename } from "node:fs/promises";
import { eq, sql } from "drizzle-orm";
import { AppError } from "../../src/domain/errors";
import { readSharedText } from "../../src/http/shared-texts";
import { renders } from "../../src/store/schema";
import { createApiKey } from "../../src/work/access/command-accounts";
import { VERIFIES_ADDRESS } from "../../src/work/identity/account-links";
import { createOneTimeToken } from "../../src/work/identity/one-time-tokens";
import { grantWorkspace } from "../unit/store/test-store";
import { emailOf, startSession } from "./accounts";
import { type Client, createClient } from "./client";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { wav } from "./media";
import { attempt, createWorkspace, inside, join as joinWorkspace, type Listed } from "./workspace-calls";

setDefaultTimeout(PATIENCE_MS);

type Share = { id: string; has_password: boolean; created_at: string; expires_at: string; created_by: { id: string } };

let server: Harness;
let owner: Client;
let maker: Client;
let workspace: string;
let renderId: string;
beforeAll(async () => {
  server = await harness({}, { sharesChild: true });
  owner = await startSession(server, await server.user());
  maker = await startSession(server, await server.user());
  ({ id: workspace } = await createWorkspace(owner));
  await server.services().store.write((tx) => grantWorkspace(tx, workspace, 10));
  const { key } = await createApiKey(server.services(), { email: emailOf(owner), name: "k", workspace });
  const studio = createClient(server.url, key, owner.userId);
  const asset = await studio.ready(await wav(2));
  renderId = (await studio.renderEnded((await studio.startRender({ asset_id: asset.id })).id)).id;
});
afterAll(() => server[Symbol.asyncDispose]());

const member = () => `/workspaces/${workspace}/members/${maker.userId}`;
async function join(): Promise<void> {
  if ((await attempt(maker, "GET", `/workspaces/${workspace}`)) !== "200") await joinWorkspace(owner, workspace, maker);
}
const share = async (user: Client) =>
  (
    await user.must<{ url: string }>("POST", `/api/v1/renders/${renderId}/share`, {
      ...inside(workspace, { expires_in_seconds: 3_600 }),
    })
  ).url;
const list = async (user = owner) =>
  user.must<Listed<Share>>("GET", `/api/v1/renders/${renderId}/shares`, inside(workspace));
const open = async (url: string) => (await fetch(url)).status;

test("are listed without their addresses, and revoked one by one", async () => {
  await join();
  const urls = [await share(owner), await share(maker)];
  const { items, total } = await list(maker);
  expect([total, items.map((item) => item.created_by.id)]).toEqual([2, [maker.userId, owner.userId]]);
  expect(JSON.stringify(items)).not.toContain("signature");
  const revoke = (id: string, user = owner) =>
    attempt(user, "DELETE", `/renders/${renderId}/shares/${id}`, inside(workspace));
  const stranger = await startSession(server, await server.user());
  expect(await revoke(items[0]!.id, stranger)).toBe("404 not_found");
  expect(await attempt(stranger, "GET", `/renders/${renderId}/shares`)).toBe("404 not_found");
  expect(await revoke(items[0]!.id)).toBe("204");
  expect(await revoke(items[0]!.id)).toBe("404 not_found");
  expect(await Promise.all(urls.map(open))).toEqual([200, 404]);
  await revoke(items[1]!.id, maker);
  expect(await open(urls[0]!)).toBe(404);
  await owner.must("DELETE", `/api/v1${member()}`);
});

const change = (column: string, value: number | null) =>
  server
    .services()
    .store.write((tx) => tx.run(sql`UPDATE users SET ${sql.raw(column)} = ${value} WHERE id = ${maker.userId}`));

test.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
  ["leaves the workspace", () => maker.must("DELETE", `/api/v1${member()}`), async () => {}],
  [
    "becomes a viewer",
    () => owner.must("PATCH", `/api/v1${member()}`, { json: { role: "viewer" } }),
    () => owner.must("DELETE", `/api/v1${member()}`),
  ],
  ["is disabled", () => change("disabled_at", 1), () => change("disabled_at", null)],
  ["is deleted", () => change("deleted_at", 1), () => change("deleted_at", null)],
])("end when who made them %s", async (_, end, repair) => {
  await join();
  const url = await share(maker);
  expect([await open(url), (await list()).total > 0]).toEqual([200, true]);
  await end();
  expect([await open(url), (await list()).total]).toEqual([404, 0]);
  await repair();
});

test("that ended with the access of who made them do not count towards the limit, and stay ended", async () => {
  await join();
  const { total } = await list();
  const urls = await Promise.all(Array.from({ length: 100 - total }, () => share(maker)));
  const create = () =>
    attempt(owner, "POST", `/renders/${renderId}/share`, inside(workspace, { expires_in_seconds: 3_600 }));
  expect([await open(urls[0]!), await create()]).toEqual([200, "409 conflict"]);
  await owner.must("PATCH", `/api/v1${member()}`, { json: { role: "viewer" } });
  const left = (await list()).total;
  expect([await create(), (await list()).total]).toEqual(["201", left + 1]);
  await owner.must("DELETE", `/api/v1${member()}`);
  await join();
  expect([await open(urls[0]!), (await list()).total]).toEqual([404, left + 1]);
});

test("have a page with a player, which a password protects", async () => {
  const create = (json: object) =>
    owner.must<{ url: string; page_url: string }>("POST", `/api/v1/renders/${renderId}/share`, {
      ...inside(workspace, { expires_in_seconds: 3_600, ...json }),
    });
  const revokeAll = async () => {
    for (const { id } of (await list()).items)
      await attempt(owner, "DELETE", `/renders/${renderId}/shares/${id}`, inside(workspace));
  };
  await revokeAll();
  const send = async (url: string, init: RequestInit = {}) => {
    const reply = await fetch(url, { redirect: "manual", ...init });
    return { status: reply.status, headers: reply.headers, text: await reply.text() };
  };
  const enter = (url: string, password: string, headers = {}) =>
    send(url, { method: "POST", body: new URLSearchParams({ password }), headers });

  const plain = await create({});
  const page = await send(plain.page_url);
  expect(page.status).toBe(200);
  expect(page.text).toContain("<audio controls");
  expect(page.text).not.toContain("<script");
  expect(page.text).toMatch(
    /Available until <time datetime="[^"]+">\w{3} \d{1,2}, \d{4}, \d{1,2}:\d\d\s[AP]M UTC<\/time>/,
  );
  const readTime = async (languages: string) =>
    /<time [^>]+>(.+)<\/time>/.exec(
      (await send(plain.page_url, { headers: { "Accept-Language": languages } })).text,
    )?.[1];
  expect(await readTime("xx, en;q=0.3, de-AT;q=0.8")).toMatch(/^\d\d?\.\d\d?\.\d{4}, \d\d:\d\d UTC$/);
  expect(await readTime("*, a_b, <b>, fr;q=0")).toMatch(/^\w{3} \d{1,2}, \d{4}, \d{1,2}:\d\d\s[AP]M UTC$/);
  expect(page.headers.get("content-security-policy")).toContain(
    "default-src 'none'; style-src 'self'; font-src 'self'",
  );
  expect(page.headers.get("x-robots-tag")).toContain("noindex");
  expect([page.headers.get("cache-control"), page.headers.get("referrer-policy")]).toEqual(["no-store", "no-referrer"]);
  const source = /src="([^"]+)"/.exec(page.text)![1]!.replaceAll("&#38;", "&");
  expect((await send(new URL(source, plain.page_url).href)).status).toBe(200);
  // The signatures of page and file do not open each other.
  expect((await send(plain.page_url.replace("/page?", "/output?"))).status).toBe(404);
  expect((await send(plain.url.replace("/output?", "/page?"))).status).toBe(404);

  expect(
    await attempt(
      owner,
      "POST",
      `/renders/${renderId}/share`,
      inside(workspace, { expires_in_seconds: 3_600, password: "short" }),
    ),
  ).toBe("422 validation_error");
  const locked = await create({ password: "larch and oak" });
  expect((await list()).items.map((item) => item.has_password)).toEqual([true, false]);
  const question = await send(locked.page_url);
  expect([question.status, question.text.includes("<audio"), question.text.includes("output?")]).toEqual([
    200,
    false,
    false,
  ]);
  expect((await send(locked.url)).status).toBe(404);
  expect((await enter(locked.page_url, "larch and elm")).status).toBe(403);
  const opened = await enter(locked.page_url, "larch and oak");
  const cookie = opened.headers.get("set-cookie")!;
  expect(cookie).toMatch(
    /^offcut_share=[\w-]+; Path=\/files\/shares\/[0-9a-f-]+; Max-Age=\d+; HttpOnly; SameSite=Lax$/,
  );
  expect([opened.status, new URL(opened.headers.get("location")!, locked.page_url).href]).toEqual([
    303,
    locked.page_url,
  ]);
  const headers = { Cookie: cookie.split(";")[0]! };
  expect((await send(locked.page_url, { headers })).text).toContain("<audio");
  expect((await send(locked.url, { headers })).status).toBe(200);
  // The proof is for this link only.
  const other = await create({ password: "larch and oak" });
  expect((await send(other.url, { headers })).status).toBe(404);

  for (let n = 0; n < 12; n++) await enter(other.page_url, `guess ${n}`);
  const limited = await enter(other.page_url, "larch and oak");
  expect([limited.status, Number(limited.headers.get("retry-after")) > 0]).toEqual([429, true]);
  server.advance(16 * 60_000);
  expect((await enter(other.page_url, "larch and oak")).status).toBe(303);
  for (const body of ["x".repeat(5_000), "a=1", "password=1&password=2"])
    expect(
      (
        await send(other.page_url, {
          method: "POST",
          body,
          headers: { "Content-Type": "application/x-www-form-urlencoded" },
        })
      ).status,
    ).toBe(400);

  await revokeAll();
  const gone = await send(locked.page_url, { headers });
  expect([gone.status, readTitle(gone.text)]).toEqual([404, "This recording is no longer shared"]);
});

const readTitle = (page: string) => /<h1[^>]*>([^<]*)<\/h1>/.exec(page)?.[1];

test("have a page that says why it does not work, to people with a real link only", async () => {
  const { links, now, store, folders } = server.services();
  const json = inside(workspace, { expires_in_seconds: 3_600 });
  const create = () => owner.must<{ url: string; page_url: string }>("POST", `/api/v1/renders/${renderId}/share`, json);
  const { page_url } = await create();
  const read = async (url: string) => {
    const reply = await fetch(url, { headers: { Accept: "text/html" } });
    return [reply.status, readTitle(await reply.text())];
  };
  const broken = [404, "This link does not work"];
  const id = /shares\/([0-9a-f-]+)/.exec(page_url)![1]!;
  expect(await read(page_url.replace(id, workspace))).toEqual(broken);
  expect(await read(page_url.replace(/signature=.*/, "signature=x"))).toEqual(broken);
  expect(await read(page_url.replace(/\?.*/, ""))).toEqual(broken);
  // An invented link that has expired looks like any other invented link.
  expect(await read(page_url.replace(/expires=\d+/, "expires=1"))).toEqual(broken);
  expect(await read(links.signShare(id, now() - 1_000, "page"))).toEqual([404, "This link has expired"]);

  const output = folders.renderOutput(renderId, "m4a");
  const aside = `${output}.aside`;
  await rename(output, aside);
  expect(await read(page_url)).toEqual([404, "This recording is no longer shared"]);
  await rename(aside, output);
  expect((await read(page_url))[0]).toBe(200);
  // The file of a link is opened by people who have no dashboard, either.
  const file = await fetch((await create()).url.replace("signature=", "signature=x"), {
    headers: { Accept: "text/html" },
  });
  const text = await file.text();
  expect([file.status, readTitle(text), text.includes("dashboard")]).toEqual([404, "File not available", false]);
  await store.write((tx) => tx.run(sql`DELETE FROM render_shares`));
  expect(await read(page_url)).toEqual([404, "This recording is no longer shared"]);
});

test("show who shared them, the length, and the words of a cut as captions and text", async () => {
  const studio = await server.user();
  const asset = await studio.ready(await wav(6));
  const cut = await studio.cutEnded((await studio.startCut({ asset_id: asset.id })).id);
  const render = await studio.renderEnded((await studio.startRender({ asset_id: asset.id, cut_id: cut.id })).id);
  const session = await startSession(server, studio);
  await session.must("PATCH", "/api/v1/users/me", { json: { first_name: "Amara", last_name: "<Okoye>" } });
  const json = { expires_in_seconds: 3_600, password: "larch and oak" };
  const link = await session.must<{ page_url: string }>("POST", `/api/v1/renders/${render.id}/share`, { json });
  const entered = await fetch(link.page_url, {
    method: "POST",
    body: new URLSearchParams({ password: json.password }),
    redirect: "manual",
  });
  const headers = { Cookie: entered.headers.get("set-cookie")!.split(";")[0]! };
  // All visitors wait for one text, and one that cannot be created is not tried again for each of them.
  const created = spyOn(server.services().planRequests, "run");
  const [page = ""] = await Promise.all(
    Array.from({ length: 5 }, async () => (await fetch(link.page_url, { headers })).text()),
  );
  expect(created).toHaveBeenCalledTimes(1);
  expect(page).toContain("Shared by <bdi>Amara &#60;Okoye&#62;</bdi> · 0:0");
  expect(page).not.toContain(emailOf(studio));
  expect(page).toMatch(/<span class="number">0:0\d<\/span><span lang="en" dir="auto">[^<]*alpha/i);
  const { links } = server.services();
  const [, id = "", expires = ""] = /shares\/([0-9a-f-]+)\/page\?expires=(\d+)/.exec(link.page_url)!;
  const captions = links.signShare(id, Number(expires) * 1000, "captions");
  expect((await fetch(captions)).status).toBe(404);
  const output = { format: "mp3" };
  const other = await studio.renderEnded((await studio.startRender({ asset_id: asset.id, cut_id: cut.id, output })).id);
  created.mockClear();
  created.mockRejectedValue(new AppError("processing_failed", "It failed."));
  const failing = (await server.services().store.read.select().from(renders).where(eq(renders.id, other.id)))[0]!;
  await expect(readSharedText(server.services(), failing, "captions")).rejects.toThrow("It failed.");
  expect(await readSharedText(server.services(), failing, "captions")).toBeNull();
  expect(created).toHaveBeenCalledTimes(1);
  created.mockRestore();
  const file = await fetch(captions, { headers });
  expect([file.status, file.headers.get("content-type")]).toEqual([200, "text/vtt; charset=utf-8"]);
  expect(await file.text()).toMatch(/^WEBVTT\n\n[\d:.]+ --> [\d:.]+\n.*alpha/i);
  // Links of the render itself have none, and the signature of the file does not open them.
  expect((await fetch(links.sign({ kind: "renders", id: render.id, what: "captions" }, Date.now()))).status).toBe(404);
  expect((await fetch(captions.replace(/signature=.*/, "signature=x"), { headers })).status).toBe(404);
});

test("of an earlier version, which name the render, are refused", async () => {
  const { links, now } = server.services();
  expect(await open(links.signShare(renderId, now() + 3_600_000))).toBe(404);
});

test("end when the address of who made them is first proved: a stranger may have made them", async () => {
  await join();
  const url = await share(maker);
  const { store, now } = server.services();
  const email = emailOf(maker);
  const { token } = await store.write((tx) =>
    createOneTimeToken(tx, {
      ...{ purpose: "password_reset", userId: maker.userId, email, now: now() },
      createData: () => ({ [VERIFIES_ADDRESS]: true }),
    }),
  );
  expect(await open(url)).toBe(200);
  const json = { token, password: "staple horse correct" };
  await server.nobody.must("POST", "/api/v1/auth/password/reset", { json });
  expect(await open(url)).toBe(404);
});

test("that have expired are deleted", async () => {
  const count = async () =>
    (await server.services().store.read.all<{ n: number }>(sql`SELECT count(*) AS n FROM render_shares`))[0]!.n;
  await share(owner);
  await server.services().store.write((tx) => tx.run(sql`UPDATE render_shares SET expires_at = 1`));
  expect([(await count()) > 0, (await list()).total]).toEqual([true, 0]);
});
