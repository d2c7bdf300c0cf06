/** A real browser: how administrators manage accounts, and what other users see of administration. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { createAdmin, emailOf, startSession, withPassword } from "../http/accounts";
import type { Client } from "../http/client";
import { readError, useDashboard, withoutReads } from "./dashboard";

const { open, browse, address, server, expectFailures } = useDashboard();

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const dialog = (page: Page) => page.getByRole("dialog");

/** Reads an account as the API has it. */
async function readUser(admin: Pick<Client, "userId">, userId: string): Promise<Record<string, unknown>> {
  const client = await startSession(server(), admin);
  return client.must<Record<string, unknown>>("GET", `/api/v1/admin/users/${userId}`);
}

test("an administrator invites a user, finds the account, and changes credits, quota and access", async () => {
  const admin = await createAdmin(server());
  const anna = await server().user(100);
  await anna.must("POST", "/api/v1/projects", { json: { name: "Series" } });
  const page = await open("/admin/users", admin);

  await button(page, "Invite user").click();
  await dialog(page).getByLabel("Email").fill("new.editor@studio.example");
  await dialog(page).getByLabel("Credits").fill("25");
  await button(page, "Invite").click();
  const link = await dialog(page).getByLabel("Invitation link", { exact: true }).inputValue();
  expect(link).toMatch(/\/invitation#\w{43}$/);
  await button(page, "Done").click();
  await page.getByRole("searchbox").fill("NEW.editor");
  await page.getByText("1 user", { exact: true }).waitFor();
  expect(await page.getByRole("row").nth(1).textContent()).toContain("Never signed in");
  expect(page.url()).toContain("q=NEW.editor");

  await page.getByRole("searchbox").fill(emailOf(anna));
  await page.getByRole("link", { name: emailOf(anna) }).click();
  await page.getByRole("heading", { level: 1, name: emailOf(anna) }).waitFor();
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Users" }).waitFor();
  expect(await page.textContent("main")).toContain("1 project");

  await page.getByRole("spinbutton", { name: "Credits" }).fill("50");
  await page.getByLabel("Note").fill("Order 7");
  await button(page, "Change credits").click();
  await page.getByText("Added 50 credits.").waitFor();
  await page.getByText("added 50 credits, “Order 7”").waitFor();
  await page.getByText("150 available in the personal workspace").waitFor();
  await page.getByRole("spinbutton", { name: "Credits" }).fill("-30");
  await button(page, "Change credits").click();
  expect(await dialog(page).textContent()).toContain("loses 30 credits of 150");
  await button(page, "Remove credits").click();
  await page.getByText("Removed 30 credits.").waitFor();
  // It closes when the page has read the account again.
  await dialog(page).waitFor({ state: "detached" });

  await page.getByLabel("Quota").selectOption("own");
  await page.getByLabel("Gigabytes").fill("2.5");
  await button(page, "Change quota").click();
  await page.getByText("2.5 GB allowed").first().waitFor();
  expect(await readUser(admin, anna.userId)).toMatchObject({ credits: 120, storage_quota_bytes: 2_500_000_000 });

  await button(page, "Create reset link").click();
  expect(await dialog(page).getByLabel("Reset link", { exact: true }).inputValue()).toContain("/reset-password#");
  await button(page, "Done").click();

  await button(page, "Disable").click();
  expect(await dialog(page).textContent()).toContain("1 API key stop working");
  expect(await dialog(page).textContent()).toContain("1 project");
  await button(page, "Disable account").click();
  await button(page, "Enable").click();
  await button(page, "Disable").waitFor();

  await button(page, "Delete account").click();
  const asked = (await dialog(page).textContent())!;
  for (const lost of ["1 project", "120 credits", "1 API key", "permanently deleted"]) expect(asked).toContain(lost);
  await dialog(page).getByRole("button", { name: "Delete account" }).click();
  await button(page, "Restore account").click();
  await button(page, "Delete account").waitFor();
  expect(await readUser(admin, anna.userId)).toMatchObject({ deleted_at: null, disabled: false });
});

test("neither a member nor a former administrator sees administration", async () => {
  expectFailures(403);
  const [anna, admin] = [await server().user(), await createAdmin(server())];
  const member = await open("/projects", anna);
  expect(await member.getByRole("link", { name: "Administration" }).count()).toBe(0);
  const asked: string[] = [];
  member.on("request", (request) => asked.push(request.url()));
  for (const path of ["users", `users/${anna.userId}`, "orders", "jobs", "storage", "health", "audit"]) {
    await member.goto(address(`/admin/${path}`));
    await member.getByRole("heading", { name: "Page not found" }).waitFor();
  }
  expect(asked.filter((url) => url.includes("/api/v1/admin/"))).toEqual([]);

  // Another administrator takes the role away while the page is open.
  const other = await startSession(server(), await createAdmin(server()));
  const page = await open("/admin/users", admin);
  await page.getByRole("table").waitFor();
  await other.must("PATCH", `/api/v1/admin/users/${admin.userId}`, { json: { role: "member" } });
  await page.getByText("You are no longer an administrator.").waitFor();
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  expect(await page.getByRole("link", { name: "Administration" }).count()).toBe(0);
});

test("the last administrator, a name with HTML and marks, and a search without a match", async () => {
  expectFailures(409);
  const admin = await withPassword(server(), await createAdmin(server()));
  const client = await startSession(server(), admin);
  // Administrators of other tests.
  const { items } = await client.must<{ items: { id: string }[] }>("GET", "/api/v1/admin/users?role=admin&limit=100");
  for (const { id } of items.filter((one) => one.id !== admin.userId))
    await client.must("PATCH", `/api/v1/admin/users/${id}`, { json: { role: "member" } });
  const name = "<img src=x onerror=alert(1)>\u202Egnp.exe";
  await client.must("PATCH", "/api/v1/users/me", { json: { first_name: name } });

  const page = await open(`/admin/users?q=${admin.userId}`, admin);
  expect(await page.getByRole("row").nth(1).textContent()).toContain("<img src=x");
  await page.getByRole("link", { name: emailOf(admin) }).click();
  await button(page, "Make member").click();
  await button(page, "Make member").last().click();
  expect(await readError(page)).toContain("is the last administrator. Create another one first.");
  await button(page, "Cancel").click();
  await button(page, "Disable").click();
  expect(await dialog(page).textContent()).toContain("You are signed out at once.");
  await button(page, "Disable account").click();
  expect(await readError(page)).toContain("last administrator");

  await page.goto(address("/admin/users?q=nobody-like-this"));
  await page.getByRole("heading", { name: "No matching users" }).waitFor();
  await button(page, "Show all users").click();
  await page.getByRole("table").waitFor();
});

test("an administrator who disables their own account is signed out", async () => {
  expectFailures(401);
  const [admin] = [await createAdmin(server()), await createAdmin(server())];
  const page = await open(`/admin/users/${admin.userId}`, admin);
  await button(page, "Disable").click();
  await button(page, "Disable account").click();
  await page.waitForURL(/\/sign-in/);
});

test("an unreachable server is reported, and called again", async () => {
  expectFailures(500);
  const context = await browse(await createAdmin(server()));
  const page = await context.newPage();
  let isBroken = true;
  let calls = 0;
  await page.route("**/api/v1/admin/users?*", (route) => {
    calls++;
    return isBroken
      ? route.fulfill({ status: 500, json: { detail: "Internal error.", code: "internal_error" } })
      : route.continue();
  });
  await page.goto(address("/admin/users"));
  expect(await readError(page)).toContain("Internal error.");
  const isAnswered = page.waitForResponse(/admin\/users\?/);
  await button(page, "Try again").click();
  await isAnswered;
  // It was asked when the page opened and when the button was pressed, and not again and again.
  expect(calls).toBe(2);
  isBroken = false;
  await button(page, "Try again").click();
  await page.getByRole("table").waitFor();
});

test("two administrators at once: the second sees why, and the account as it is now", async () => {
  expectFailures(409, 403);
  const [one, two] = [await createAdmin(server()), await createAdmin(server())];
  const anna = await server().user(10);
  await (await startSession(server(), anna)).must("POST", "/api/v1/workspaces", { json: { name: "Studio" } });
  const page = await open(`/admin/users/${anna.userId}`, one);
  const other = await startSession(server(), two);
  await page.getByRole("spinbutton", { name: "Credits" }).fill("-5");
  await page.getByLabel("Workspace", { exact: true }).last().selectOption("Studio");
  await button(page, "Change credits").click();
  expect(await dialog(page).textContent()).toContain("All members of the workspace Studio lose 5 credits.");
  await button(page, "Cancel").click();
  await page.getByLabel("Workspace", { exact: true }).last().selectOption("Personal");
  await other.must("POST", `/api/v1/admin/users/${anna.userId}/credits`, { json: { delta: -10 } });
  await page.getByRole("spinbutton", { name: "Credits" }).fill("-5");
  await button(page, "Change credits").click();
  await button(page, "Remove credits").click();
  expect(await readError(page)).toContain("Balance is 0 credits: 5 cannot be removed.");
  await page.getByText("0 available in the personal workspace").waitFor();
  await button(page, "Cancel").click();
  await withoutReads(page, "**/api/v1/users/me", async () => {
    await other.must("PATCH", `/api/v1/admin/users/${one.userId}`, { json: { role: "member" } });
    await button(page, "Disable").click();
    await button(page, "Disable account").click();
  });
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
});
