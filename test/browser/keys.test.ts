/** A real browser: the API keys of a user. */
import { expect, test } from "bun:test";
import { PASSWORD, startSession, withPassword } from "../http/accounts";
import { createClient } from "../http/client";
import { tryCall } from "../http/outcome";
import { join } from "../http/workspace-calls";
import { readError, useDashboard } from "./dashboard";
import { readFocus } from "./keys";

const { address, open, server, expectFailures } = useDashboard();

/** Returns a day to come as the page shows it. */
const formatDay = (days: number): string =>
  new Intl.DateTimeFormat("en-US", { dateStyle: "medium" }).format(Date.now() + days * 24 * 3600 * 1000);

test("a key is created after the password, shown once, copied without the clipboard API, and revoked", async () => {
  expectFailures(403);
  const user = await withPassword(server(), await server().user());
  const page = await open("/keys", user);
  server().advance(13 * 3600 * 1000);
  await page.getByRole("button", { name: "New API key" }).click();
  const form = page.getByRole("dialog", { name: "New API key" });
  const days = [formatDay(30)];
  await form.getByLabel("Name").fill("Ingest server");
  await form.getByLabel("Scope").selectOption("Read only");
  await form.getByLabel("Expires").selectOption("In 30 days");
  await form.getByRole("button", { name: "Create" }).click();
  const asked = page.getByRole("dialog", { name: "Enter your password" });
  await asked.getByLabel("Password").fill(PASSWORD);
  await asked.getByRole("button", { name: "Continue" }).click();

  const shown = page.getByRole("dialog", { name: "API key created" });
  const key = await shown.getByLabel("API key", { exact: true }).inputValue();
  expect(key).toMatch(/^sk_[0-9A-Za-z]{40}$/);
  expect(await page.evaluate(() => [isSecureContext, document.activeElement?.tagName])).toEqual([false, "INPUT"]);
  const call = (await shown.getByRole("group", { name: "Example call" }).textContent())!;
  expect(call).toContain(`curl "${address("/v1/projects")}"`);
  expect(call).toContain(`Authorization: Bearer ${key}`);
  await shown.getByRole("button", { name: "Copy example call" }).click();
  await shown.getByText("Copied.").waitFor();
  await shown.getByRole("button", { name: "Copy API key", exact: true }).click();
  await shown.getByText("Copied.").nth(1).waitFor();
  // It cannot be lost by accident: only its button closes it, and Escape moves the focus there.
  expect(await shown.getByRole("button", { name: "Close" }).count()).toBe(0);
  await page.mouse.click(2, 2);
  await page.getByRole("heading", { name: "API key created" }).click();
  for (let times = 0; times < 3; times++) await page.keyboard.press("Escape");
  expect(await shown.getByLabel("API key", { exact: true }).inputValue()).toBe(key);
  expect(await readFocus(page)).toBe("Done");
  await page.keyboard.press("Enter");
  await shown.waitFor({ state: "detached" });
  // The copied text is pasted, because the browser does not expose it to scripts.
  await page.getByRole("button", { name: "New API key" }).click();
  await form.getByLabel("Name").focus();
  await page.keyboard.press("Control+v");
  expect(await form.getByLabel("Name").inputValue()).toBe(key);
  await page.keyboard.press("Escape");

  const row = page.getByRole("row").filter({ hasText: "Ingest server" });
  const text = (await row.textContent())!;
  for (const part of [`${key.slice(0, 9)}…`, "Read only", "Never"]) expect(text).toContain(part);
  // Midnight may have passed since.
  days.push(formatDay(30));
  expect(days.some((day) => text.includes(day))).toBe(true);
  expect(text).not.toContain(key);
  const client = createClient(server().url, key, user.userId);
  expect(await tryCall(client, "GET", "/v1/projects")).toStartWith("200");
  await row.getByRole("button", { name: "Revoke Ingest server" }).click();
  const confirm = page.getByRole("dialog", { name: "Revoke this key?" });
  expect(await confirm.textContent()).toContain("its unfinished uploads cannot continue");
  // The list is read again in the meantime, and the key in it has changed, because it has been used.
  await page.evaluate(() => void dispatchEvent(new Event("focus")));
  await row.getByText("Never").waitFor({ state: "detached" });
  await confirm.getByRole("button", { name: "Revoke key" }).click();
  await row.waitFor({ state: "detached" });
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
  expect(await tryCall(client, "GET", "/v1/projects")).toBe("401 unauthenticated");
});

test("the page without keys, with a wrong expiry, and while the server fails", async () => {
  expectFailures(0, 404, 422);
  const user = await server().user();
  const session = await startSession(server(), user);
  const { items } = await session.must<{ items: { id: string }[] }>("GET", "/api-keys");
  const page = await open("/keys", user);
  await page.getByRole("button", { name: /^Revoke / }).click();
  // Another tab is faster.
  for (const { id } of items) await session.must("DELETE", `/api-keys/${id}`);
  await page.getByRole("button", { name: "Revoke key" }).click();
  expect(await readError(page)).toContain("not found");
  await page.getByRole("heading", { name: "No API keys", includeHidden: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "New API key" }).click();
  await page.getByLabel("Name").fill("Old");
  await page.getByLabel("Expires").selectOption("On a date…");
  const date = page.getByLabel("Last day");
  await date.evaluate((input) => input.removeAttribute("min"));
  await date.fill("2020-01-31");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByText("Expiry must be in the future.").waitFor();
  await page.keyboard.press("Escape");
  await page.route("**/api-keys?*", (route) => route.abort());
  await page.reload();
  await page.getByRole("alert").getByText("The server does not respond.").waitFor();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  // Without a click: it is read again when the server answers.
  await page.getByRole("heading", { name: "No API keys" }).waitFor();
});

test("a key of a shared workspace names it, and a viewer's key reads only", async () => {
  const owner = await startSession(server(), await server().user());
  const viewer = await server().user();
  const { id } = await owner.must<{ id: string }>("POST", "/api/v1/workspaces", { json: { name: "Newsroom" } });
  await join(owner, id, await startSession(server(), viewer), "viewer");
  const page = await open("/keys", viewer);
  await page.getByRole("button", { name: "New API key" }).click();
  await page.getByLabel("Name").fill("Wall");
  const form = page.getByRole("dialog", { name: "New API key" });
  await form.getByLabel("Workspace").selectOption("Newsroom");
  expect(await form.getByLabel("Scope").locator("option").allTextContents()).toEqual(["Read only"]);
  await form.getByRole("button", { name: "Create" }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("row").filter({ hasText: "Wall" }).getByText("Newsroom").waitFor();
});
