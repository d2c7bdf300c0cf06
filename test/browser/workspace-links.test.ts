/** A real browser: links to resources in another workspace of the user than the current one. */
import { beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { createApiKey } from "../../src/work/access/command-accounts";
import { createAdmin, emailOf, PASSWORD, startSession, withPassword } from "../http/accounts";
import { type Client, createClient } from "../http/client";
import { createWorkspace, inside, join, type Listed } from "../http/workspace-calls";
import { grantWorkspace } from "../unit/store/test-store";
import { useDashboard } from "./dashboard";
import { createStudioAsset } from "./studio";

const { address, browse, server, expectFailures } = useDashboard({ settings: { WEBHOOKS_ALLOW_LOOPBACK: "true" } });

let studio: string;
let member: Client;
let former: Client;
let projectId: string;
/** Pages of the workspace "Studio", and the control that each has for a viewer too. */
let pages: Record<string, { path: string; heading: string | RegExp }>;
let ownProject: string;

beforeAll(async () => {
  await createAdmin(server());
  const owner = await startSession(server(), await server().user());
  [member, former] = [await withPassword(server(), await server().user()), await server().user()];
  studio = (await createWorkspace(owner)).id;
  await join(owner, studio, await startSession(server(), member), "viewer");
  await join(owner, studio, await startSession(server(), former));
  await owner.must("DELETE", `/api/v1/workspaces/${studio}/members/${former.userId}`);
  await server()
    .services()
    .store.write((tx) => grantWorkspace(tx, studio, 100));
  const request = { email: emailOf(owner), name: "k", workspace: studio };
  const inStudio = createClient(server().url, (await createApiKey(server().services(), request)).key, owner.userId);
  const asset = await createStudioAsset(inStudio);
  const endpoint = await inStudio.must<{ id: string }>("POST", "/v1/webhook-endpoints", {
    json: { url: "http://127.0.0.1:8999/hook", event_types: ["asset.ready"] },
  });
  const jobs = await inStudio.must<Listed<{ id: string }>>("GET", "/api/v1/pipelines");
  projectId = (await inStudio.must<{ project_id: string }>("GET", `/v1/assets/${asset.id}`)).project_id;
  const project = await inStudio.must<{ name: string }>("PATCH", `/v1/projects/${projectId}`, {
    json: { name: "Film" },
  });
  ownProject = (await member.project("My own")).id;
  pages = {
    recording: { path: `/assets/${asset.id}`, heading: "Talk.wav" },
    cut: { path: `/assets/${asset.id}?cut=${asset.reviewCutId}`, heading: "Talk.wav" },
    project: { path: `/projects/${projectId}`, heading: project.name },
    job: { path: `/jobs/${jobs.items[0]!.id}`, heading: /^(?:Preparation|Cut)/ },
    endpoint: { path: `/webhooks/${endpoint.id}`, heading: /127\.0\.0\.1/ },
  };
});

/** Opens an address, and records the headings that the page shows and how often it asks for a workspace. */
async function follow(page: Page, path: string): Promise<{ headings(): Promise<string[]>; searches(): number }> {
  let searches = 0;
  page.on("request", (request) => {
    if (request.url().includes("containing=")) searches++;
  });
  await page.addInitScript(() => {
    const shown: string[] = [];
    Object.assign(window, { shown });
    new MutationObserver(() => {
      const text = document.querySelector("h1")?.textContent;
      if (text && shown.at(-1) !== text) shown.push(text);
    }).observe(document, { childList: true, subtree: true, characterData: true });
  });
  await page.goto(address(path));
  return {
    headings: () => page.evaluate(() => (window as unknown as { shown: string[] }).shown),
    searches: () => searches,
  };
}

const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name }).first();
const shownWorkspace = (page: Page) => page.getByLabel("Workspace", { exact: true }).locator("option:checked");

test.each(["recording", "cut", "project", "job", "endpoint"])("a link to a %s switches the workspace", async (kind) => {
  expectFailures(404);
  const { path, heading: expected } = pages[kind]!;
  const page = await (await browse(member, { viewport: { width: 375, height: 812 } })).newPage();
  const { headings, searches } = await follow(page, path);
  await heading(page, expected).waitFor();
  await page.getByText("Switched to workspace Studio.").waitFor();
  // The editor has no room for the name of the workspace; it leads back to the project in it.
  if (path.startsWith("/assets/")) await page.getByRole("link", { name: "Back to Film" }).waitFor();
  else expect(await shownWorkspace(page).textContent()).toBe("Studio");
  expect(page.url()).toBe(address(path));
  expect((await headings()).filter((text) => text.includes("not found"))).toEqual([]);
  expect(searches()).toBe(1);
});

test("the page follows the events of the workspace, and back leads to the other one", async () => {
  expectFailures(404);
  const page = await (await browse(member)).newPage();
  await page.goto(address(`/projects/${ownProject}`));
  await heading(page, "My own").waitFor();
  await follow(page, pages.project!.path);
  await heading(page, "Film").waitFor();
  const [owner] = await server()
    .services()
    .store.read.all<{ user_id: string }>(
      `SELECT user_id FROM workspace_members WHERE role = 'owner' AND workspace_id = '${studio}'`,
    );
  const session = await startSession(server(), { userId: owner!.user_id });
  await session.must("PATCH", `/api/v1/projects/${projectId}`, inside(studio, { name: "News" }));
  await heading(page, "News").waitFor();
  await session.must("PATCH", `/api/v1/projects/${projectId}`, inside(studio, { name: "Film" }));
  await page.goBack();
  await heading(page, "My own").waitFor();
  expect(await shownWorkspace(page).textContent()).toBe("Personal");
  await page.goForward();
  await heading(page, "Film").waitFor();
  expect(await shownWorkspace(page).textContent()).toBe("Studio");
});

test("a link opens after a sign-in", async () => {
  expectFailures(401, 404);
  const page = await (await browse(null)).newPage();
  await page.goto(address(pages.cut!.path));
  await page.getByLabel("Email").fill(emailOf(member));
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.keyboard.press("Enter");
  await heading(page, "Talk.wav").waitFor();
  await page.getByText("Switched to workspace Studio.").waitFor();
  expect(page.url()).toBe(address(pages.cut!.path));
});

test.each(["recording", "project", "job", "endpoint"])("a former member does not find the %s", async (kind) => {
  expectFailures(404);
  const page = await (await browse(former)).newPage();
  const { searches } = await follow(page, pages[kind]!.path);
  await heading(page, /not found/).waitFor();
  expect(searches()).toBe(1);
  expect(await page.getByText("Switched to").count()).toBe(0);
});

test("a search for the workspace that fails is tried again", async () => {
  expectFailures(404, 500);
  const page = await (await browse(member)).newPage();
  const search = "**/api/v1/workspaces?containing=*";
  await page.route(search, (route) =>
    route.fulfill({ status: 500, json: { detail: "Internal error.", code: "internal_error" } }),
  );
  await page.goto(address(pages.project!.path));
  await page.getByRole("alert").getByText("Internal error.").waitFor();
  await page.unroute(search);
  await page.getByRole("button", { name: "Try again" }).click();
  await heading(page, "Film").waitFor();
});
