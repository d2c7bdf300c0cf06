/** A real browser: the pages on which administrators manage workers on other machines. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { newId } from "../../src/lib/ids";
import { HEARTBEAT_MS } from "../../src/work/cluster/worker-list";
import { createAdmin } from "../http/accounts";
import { joinWorker } from "../http/workers";
import { useDashboard } from "./dashboard";

const { open, address, server, expectFailures } = useDashboard();

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const dialog = (page: Page) => page.getByRole("dialog");
/** Pages without live events read again when they become visible. */
const lookAgain = (page: Page) => page.evaluate(() => void dispatchEvent(new Event("focus")));

test("without Redis and workers, the page shows how to enable them, and a token is created once", async () => {
  expectFailures(422, 409);
  const admin = await createAdmin(server());
  const page = await open("/admin/workers", admin);
  await page.getByRole("heading", { name: "Workers are not enabled" }).waitFor();
  await page.getByRole("heading", { name: "No worker has joined" }).waitFor();
  const create = async (name: string) => {
    await page.getByLabel("Name").fill(name);
    await button(page, "Create token").click();
  };
  await button(page, "Add worker").click();
  await create("edit suite");
  await dialog(page)
    .getByText(/must be 1 to 63 letters/)
    .waitFor();
  await create("edit-suite");
  const token = await page.getByLabel("Join token", { exact: true }).inputValue();
  expect(token).toMatch(/^wt_/);
  const command = await page.getByRole("group", { name: "Command for the worker" }).textContent();
  expect(command).toContain(token);
  expect(command).toContain(`--head ${address("")}`);
  await button(page, "Done").click();
  expect(await page.content()).not.toContain(token);

  await button(page, "Add worker").click();
  await create("edit-suite");
  await dialog(page)
    .getByText(/A join token with the name "edit-suite" exists/)
    .waitFor();
  await button(page, "Cancel").click();
  await button(page, "Revoke the token of edit-suite").click();
  await button(page, "Revoke token").click();
  await page.getByText("The token of edit-suite was revoked.").waitFor();
  await page.getByRole("heading", { name: "Unused join tokens" }).waitFor({ state: "detached" });
});

test("a worker is drained, resumed and revoked, and its history stays", async () => {
  const admin = await createAdmin(server());
  const { workerList } = server().services();
  const { worker, beat } = await joinWorker(server().services(), "desk");
  // Without heartbeats it is offline after a while.
  using stack = new DisposableStack();
  stack.adopt(setInterval(beat, HEARTBEAT_MS), clearInterval);
  const [done, running] = [newId(), newId()].map((execution) => {
    workerList.startRun(worker.id, { execution, kind: "chunk", stepId: newId(), subjectId: newId() });
    return execution;
  });
  workerList.endRun(done!, "completed", 65);
  const page = await open("/admin/workers", admin);
  await page.getByRole("progressbar", { name: "Progress of render: chunk on desk" }).waitFor();
  await page.getByRole("link", { name: "desk" }).click();
  await page.getByRole("heading", { level: 1, name: "desk" }).waitFor();
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Workers" }).waitFor();
  await page.getByRole("region", { name: "History" }).getByText("1:05 of media in").waitFor();
  await button(page, "Drain").click();
  await page.getByText("Draining", { exact: true }).waitFor();
  await button(page, "Resume").click();
  await page.getByText("Online", { exact: true }).waitFor();
  workerList.endRun(running!, "failed", null);
  await lookAgain(page);
  await page.getByRole("region", { name: "History" }).getByText("Failed").waitFor();
  workerList.startRun(worker.id, { execution: newId(), kind: "prepare", stepId: newId(), subjectId: newId() });
  await lookAgain(page);
  await page.getByRole("progressbar").waitFor();
  await button(page, "Revoke").click();
  expect(await dialog(page).textContent()).toContain("Its 1 task runs again elsewhere");
  await button(page, "Revoke worker").click();
  await page.getByText(/^Revoked .*Its history is kept/).waitFor();
  await page.getByRole("region", { name: "History" }).getByText("Stopped").waitFor();
  expect(await button(page, "Drain").count()).toBe(0);
  await page.goto(address("/admin/workers"));
  await page.getByRole("heading", { name: "No worker has joined" }).waitFor();
});

test("a worker that does not exist is not found, and a list that cannot be read can be read again", async () => {
  expectFailures(404, 500);
  const admin = await createAdmin(server());
  const page = await open(`/admin/workers/${newId()}`, admin);
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  await page.route("**/api/v1/admin/workers?*", (route) => route.fulfill({ status: 500, body: "{}" }), { times: 1 });
  await page.goto(address("/admin/workers"));
  await button(page, "Try again").click();
  await page.getByRole("heading", { name: "No worker has joined" }).waitFor();
});
