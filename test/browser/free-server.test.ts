/** A real browser: a server on which nothing costs credits does not mention them anywhere. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { OPEN_PATHS, PLAIN_PATHS, SHELL_PATHS } from "../../web/app/paths";
import { createAdmin, startSession } from "../http/accounts";
import { wav } from "../http/media";
import { sample, send } from "../http/notification-samples";
import { joinWorker } from "../http/workers";
import { createWorkspace } from "../http/workspace-calls";
import { useDashboard } from "./dashboard";
import { insertEndedJobs } from "./job-rows";

const { address, browse, expectFailures, server } = useDashboard({ settings: { BILLING: "off" } });

/** Returns what a page says about credits, also in names and tooltips. */
const readCredits = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const attributes = [...document.querySelectorAll("[aria-label], [title], [placeholder]")].flatMap((element) =>
      ["aria-label", "title", "placeholder"].map((name) => element.getAttribute(name) ?? ""),
    );
    const texts = [document.title, ...document.body.innerText.split("\n"), ...attributes];
    return texts.filter((text) => /credit|balance|invoice|billing|pric(e|ing)/i.test(text));
  });

test("no page, menu or search of a free server has a word about credits", async () => {
  expectFailures(404);
  const admin = await createAdmin(server());
  const session = await startSession(server(), admin);
  const workspace = await createWorkspace(session, "Studio");
  const headers = { "Offcut-Workspace": admin.userId };
  const project = await session.must<{ id: string }>("POST", "/api/v1/projects", { json: { name: "Talks" }, headers });
  const endpoint = await session.must<{ id: string }>("POST", "/api/v1/webhook-endpoints", {
    json: { url: "https://8.8.8.8/hook", event_types: ["render.completed"] },
    headers,
  });
  const [jobId] = await insertEndedJobs(server(), admin, [{ state: "failed" }]);
  await send(server(), admin, sample("pipeline_failed"));
  const { worker } = await joinWorker(server().services(), "desk");
  const member = await server().user();
  const { id: assetId } = await member.ready(await wav(2));
  const cut = await member.cutEnded((await member.startCut({ asset_id: assetId })).id);
  await member.renderEnded((await member.startRender({ asset_id: assetId, cut_id: cut.id })).id);
  const ids: Record<string, string> = {
    ":projectId": project.id,
    ":endpointId": endpoint.id,
    ":workspaceId": workspace.id,
    ":pipelineId": jobId!,
    ":userId": member.userId,
    ":workerId": worker.id,
  };
  const page = await (await browse(admin)).newPage();
  const walk = async (path: string, of = page) => {
    await of.goto(address(path));
    await of.waitForSelector("h1");
    await of.waitForFunction(() => document.querySelector(".skeleton") === null);
    expect({ path, credits: await readCredits(of) }).toEqual({ path, credits: [] });
  };
  for (const path of [...PLAIN_PATHS, ...SHELL_PATHS])
    if (!path.includes(":assetId")) await walk(path.replace(/:\w+/, (name) => ids[name] ?? crypto.randomUUID()));

  await page.goto(address("/projects"));
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  for (const [key, name] of [
    ["Control+k", "Search"],
    ["Shift+?", "Keyboard shortcuts"],
  ] as const) {
    await page.keyboard.press(key);
    await page.getByRole("dialog", { name }).waitFor();
    expect(await readCredits(page)).toEqual([]);
    await page.keyboard.press("Escape");
  }
  await page.getByRole("button", { name: "Actions for Talks" }).click();
  for (const item of ["Cut after upload…", "Delete"]) {
    if (item === "Delete") await page.getByRole("button", { name: "Actions for Talks" }).click();
    await page.getByRole("menuitem", { name: item }).click();
    await page.getByRole("dialog").waitFor();
    expect(await readCredits(page)).toEqual([]);
    await page.keyboard.press("Escape");
  }

  // The recording of a member, with each tab of the editor and the dialogs of its output.
  const editor = await (await browse(member)).newPage();
  await walk(`/assets/${assetId}`, editor);
  await editor.getByRole("tab").first().waitFor();
  const tabs = await editor.getByRole("tab").all();
  expect(tabs.length).toBeGreaterThan(3);
  for (const tab of tabs) {
    await tab.click();
    expect(await readCredits(editor)).toEqual([]);
  }
  for (const name of ["Render", "Export", "Share"]) {
    await editor.getByRole("button", { name, exact: true }).first().click();
    const dialog = editor.getByRole("dialog");
    await dialog.getByRole("heading").first().waitFor();
    expect(await readCredits(editor)).toEqual([]);
    await editor.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  }

  const guest = await (await browse(null)).newPage();
  for (const path of OPEN_PATHS) await walk(path.startsWith("/sign") ? path : `${path}#x`, guest);
});
