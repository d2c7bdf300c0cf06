/** A real browser: the page of all jobs and the page of one, with running, failed, cancelled and retried jobs. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { isFullSize } from "../full-size";
import { startSession } from "../http/accounts";
import { CUT, RENDER, startChain } from "../http/chains";
import { wav } from "../http/media";
import { createWorkspace, join } from "../http/workspace-calls";
import { useDashboard } from "./dashboard";
import { insertEndedJobs } from "./job-rows";

const { address, browse, open, server, expectFailures } = useDashboard();

const table = (page: Page, name: string) => page.getByRole("table", { name });
const running = (page: Page) => table(page, "Running and waiting jobs");
const ended = (page: Page) => table(page, "Jobs that have ended");

test("a job runs, is cancelled and retried, and completes; everything live", async () => {
  const user = await server().user();
  const asset = await user.ready(await wav(2), { filename: "talk.wav" });
  const hold = server().holdRenders();
  const { id } = await startChain(user, asset.id, [CUT, RENDER]);
  await hold.reached;
  await createWorkspace(await startSession(server(), user), "A studio with a long name");
  const page = await open("/projects", user);
  const jobs = page.getByRole("link", { name: "Jobs 1 running or waiting" });
  await jobs.waitFor();
  for (const width of [320, 390, 1280]) {
    await page.setViewportSize({ width, height: 720 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  }
  await jobs.click();

  await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
  const row = running(page).getByRole("row").nth(1);
  await row.getByText("step 2 of 2").waitFor();
  expect(await row.textContent()).toContain("talk.wav");
  expect(await row.textContent()).toContain("You");
  expect(await ended(page).textContent()).toContain("Preparation");

  await row.getByRole("button", { name: "Cancel Cut and render of talk.wav" }).click();
  const dialog = page.getByRole("dialog", { name: "Cancel this job?" });
  expect(await dialog.textContent()).toContain("results of completed steps are kept");
  await dialog.getByRole("button", { name: "Cancel the job" }).click();
  await page.getByText("No jobs are running or waiting.").waitFor();

  await page.getByRole("button", { name: "Cancelled" }).click();
  expect(await running(page).count()).toBe(0);
  expect(page.url()).toEndWith("/jobs?state=cancelled");
  await page.getByRole("link", { name: "Cut and render" }).click();
  await page.getByRole("heading", { level: 1, name: "Cut and render" }).waitFor();
  hold.release();
  await page.getByRole("button", { name: "Retry" }).first().click();
  await page.getByRole("button", { name: "Download", exact: true }).waitFor();
  expect(await page.getByRole("listitem").filter({ hasText: "took" }).count()).toBe(2);
  expect(await page.title()).toBe("Cut and render of talk.wav – Offcut");
  const link = page.getByRole("link", { name: "talk.wav" });
  expect(await link.getAttribute("href")).toBe(`/assets/${asset.id}`);
  const downloaded = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download", exact: true }).click();
  expect((await downloaded).suggestedFilename()).toEndWith(".m4a");
  expect(page.url()).toEndWith(`/jobs/${id}`);
});

test("without jobs, the page says once what it shows, and leads to the projects", async () => {
  const page = await open("/jobs", await server().user());
  await page.getByRole("heading", { name: "No jobs yet" }).waitFor();
  expect(await page.getByRole("main").getByRole("heading", { level: 2 }).allTextContents()).toEqual([
    "Running and waiting",
    "Ended",
    "No jobs yet",
  ]);
  await page.getByRole("main").getByRole("link", { name: "Open projects" }).click();
  await page.getByRole("heading", { name: "Drop a recording, get a cut" }).waitFor();
  // There is nothing to search yet.
  expect(await page.getByLabel("Search projects").count()).toBe(0);
  expect(await page.getByRole("button", { name: "Archived" }).count()).toBe(1);
});

test("a failed job shows the reason and advice, and the filter finds it", async () => {
  const user = await server().user();
  const error = { code: "script_mismatch", message: "The script does not match the recording." };
  const [id] = await insertEndedJobs(server(), user, [{ state: "failed", error }, { state: "completed" }]);
  const page = await open("/jobs", user);
  await page.getByText("No jobs are running or waiting.").waitFor();
  await page.getByRole("button", { name: "Failed" }).press("Enter");
  await ended(page).getByText(error.message).waitFor();
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Failed");
  expect(await ended(page).getByRole("row").count()).toBe(2);
  await page.goto(address(`/jobs/${id}`));
  await page.getByText(error.message).waitFor();
  expect(await page.textContent("main")).toContain("Check that the script belongs to this recording");
  await page.goBack();
  await ended(page).getByText(error.message).waitFor();
  await page.getByRole("button", { name: "Completed" }).click();
  await ended(page).waitFor();
  await page.getByRole("button", { name: "Cancelled" }).click();
  await page.getByRole("heading", { name: "No cancelled jobs" }).waitFor();
});

test("a viewer has no controls, others find nothing, and an error can be tried again", async () => {
  expectFailures(404, 500);
  const [owner, viewer] = [await startSession(server(), await server().user()), await server().user()];
  const { id: workspaceId } = await createWorkspace(owner);
  await join(owner, workspaceId, await startSession(server(), viewer), "viewer");
  await insertEndedJobs(server(), { userId: workspaceId }, [{ state: "cancelled" }], owner.userId);
  const [hidden] = await insertEndedJobs(server(), { userId: owner.userId }, [{ state: "cancelled" }], owner.userId);
  const context = await browse(viewer);
  const page = await context.newPage();
  await page.goto(address(`/jobs/${hidden}`));
  await page.getByRole("heading", { level: 1, name: "Job not found" }).waitFor();
  let isBroken = true;
  await page.route("**/api/v1/pipelines?**", (route) =>
    isBroken
      ? route.fulfill({ status: 500, json: { detail: "Internal error.", code: "internal_error" } })
      : route.continue(),
  );
  await page.goto(address("/jobs"));
  await page.getByRole("alert").getByText("Internal error.").first().waitFor();
  isBroken = false;
  await page.getByRole("combobox", { name: "Workspace" }).selectOption("Studio");
  await page.getByRole("link", { name: "Jobs" }).click();
  await ended(page).getByRole("link", { name: "Cut" }).click();
  await page.getByRole("heading", { level: 1, name: "Cut" }).waitFor();
  expect(await page.getByRole("button", { name: "Retry" }).count()).toBe(0);
});

test.if(isFullSize)(
  "10,000 jobs open within 0.5 s and scroll to the end",
  async () => {
    const user = await server().user();
    await insertEndedJobs(
      server(),
      user,
      Array.from({ length: 10_000 }, () => ({ state: "completed" }) as const),
    );
    const page = await open("/projects", user);
    await page.getByRole("link", { name: "Jobs" }).hover();
    const took = await page.evaluate(async () => {
      const started = performance.now();
      document.querySelector<HTMLAnchorElement>('.shell-nav a[href="/jobs"]')!.click();
      while (document.querySelectorAll(".data-table tbody tr").length < 100) await new Promise(requestAnimationFrame);
      return performance.now() - started;
    });
    console.log(`10,000 jobs: first rows after ${Math.round(took)} ms`);
    expect(took).toBeLessThan(500);
    const rows = await page.evaluate(async () => {
      const count = () => document.querySelectorAll(".data-table tbody tr").length;
      for (let step = 0; step < 3000 && count() < 10_000; step++) {
        scrollTo(0, document.documentElement.scrollHeight);
        await new Promise(requestAnimationFrame);
      }
      return count();
    });
    expect(rows).toBe(10_000);
  },
  180_000,
);
