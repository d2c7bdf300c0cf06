/** A real browser: the pages of the account, also with a session that is too old for their changes. */
import { expect, test } from "bun:test";
import { generateSync } from "otplib";
import type { Page } from "playwright-core";
import { newId } from "../../src/lib/ids";
import { insertOidcIdentity } from "../../src/store/oidc-identities";
import { createAdmin, PASSWORD, startSession, withPassword } from "../http/accounts";
import type { Client } from "../http/client";
import { readError, useDashboard } from "./dashboard";

const dashboard = useDashboard();
const { address, open, server, expectFailures } = dashboard;

const NEW_PASSWORD = "staple horse correct";
const DAY_MS = 24 * 3600 * 1000;

const newUser = async () => withPassword(server(), await server().user());
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const region = (page: Page, name: string) => page.getByRole("region", { name });

/** Returns the code that an authenticator shows now. A code works only once, so time must pass first. */
function showCode(secret: string): string {
  server().advance(30_000);
  return generateSync({ secret, epoch: Math.floor(server().services().now() / 1000) });
}

/** Answers the dialog that an old session gets. `secret`: the authenticator's secret, if its code is required too. */
async function signInAgain(page: Page, password: string, secret: string | null = null): Promise<void> {
  const dialog = page.getByRole("dialog", { name: "Enter your password" });
  await dialog.getByLabel("Password").fill(password);
  await dialog.getByRole("button", { name: "Continue" }).click();
  if (secret !== null) {
    await dialog.getByLabel("Code").fill(showCode(secret));
    await dialog.getByRole("button", { name: "Continue" }).click();
  }
  await dialog.waitFor({ state: "detached" });
}

test("the name is saved, and the page shows why an address cannot be confirmed", async () => {
  const user = await newUser();
  const page = await open("/account", user);
  await page.getByText("This server does not send email").waitFor();
  await page.getByLabel("First name").fill("Grace");
  await page.getByLabel("Last name").fill("Hopper");
  await button(page, "Save").click();
  await page.getByText("Name saved.").waitFor();
  await page.getByRole("button", { name: "Account: Grace Hopper" }).click();
  await page.getByRole("menuitem", { name: "Workspaces" }).click();
  await page.getByRole("heading", { level: 1, name: "Workspaces" }).waitFor();
});

test("preferences are saved at once, mandatory ones are explained, and a failure is undone", async () => {
  expectFailures(500);
  const page = await open("/account/notifications", await newUser());
  const mandatory = page.getByLabel("Payment failed, email");
  await mandatory.waitFor();
  expect([await mandatory.isChecked(), await mandatory.isDisabled()]).toEqual([true, true]);
  await page.getByText("because the subscription ends without payment").waitFor();
  const completed = page.getByLabel("Job completed, email");
  await completed.check();
  await page.getByText("Saved: Job completed, email.").waitFor();
  await page.reload();
  expect(await completed.isChecked()).toBe(true);
  await page.route("**/api/v1/notifications/preferences", (route) => route.fulfill({ status: 500, json: {} }));
  await completed.click();
  expect(await readError(page)).toContain("The server is unavailable.");
  expect(await completed.isChecked()).toBe(true);
  await page.reload();
  await button(page, "Try again").waitFor();
});

test("the password is changed, which ends the other sessions", async () => {
  expectFailures(422);
  const user = await newUser();
  await startSession(server(), user);
  const page = await open("/account/security", user);
  const sessions = page.getByRole("table", { name: "Sessions" });
  await sessions.getByText("This session").waitFor();
  expect(await sessions.getByRole("row").count()).toBe(3);
  await page.getByLabel("Current password").fill("wrong horse battery");
  await page.getByLabel("New password").fill(NEW_PASSWORD);
  await button(page, "Change password").click();
  expect(await readError(page)).toBe("Current password is wrong.");
  await page.getByLabel("Current password").fill(PASSWORD);
  await button(page, "Change password").click();
  await page.getByText("Password changed.").waitFor();
  await sessions.getByRole("row").nth(2).waitFor({ state: "detached" });
  expect(await page.getByLabel("New password").inputValue()).toBe("");
});

test("sessions are ended one by one and all together", async () => {
  const user = await newUser();
  const others = [await startSession(server(), user), await startSession(server(), user)];
  const page = await open("/account/security", user);
  const ends = page.getByRole("button", { name: /^End the session of/ });
  await ends.first().click();
  await ends.nth(1).waitFor({ state: "detached" });
  await button(page, "End all other sessions").click();
  await button(page, "End other sessions").click();
  await ends.waitFor({ state: "detached" });
  const answers = await Promise.all(others.map((other) => other.call("GET", "/api/v1/users/me")));
  expect(answers.map(({ status }) => status)).toEqual([401, 401]);
});

test("an unknown sign-in provider can be removed, but not the last way to sign in", async () => {
  expectFailures(409);
  const [ada, ben] = [await newUser(), await server().user()];
  const link = (userId: string) =>
    server()
      .services()
      .store.write((tx) =>
        insertOidcIdentity(tx, {
          id: newId(),
          user_id: userId,
          issuer: "https://login.example/realm",
          subject: userId,
          email: "eve@example.test",
          created_at: server().services().now(),
        }),
      );
  await Promise.all([link(ada.userId), link(ben.userId)]);
  const remove = async (user: Client) => {
    const page = await open("/account/security", user);
    await region(page, "Sign-in providers").getByText("login.example").waitFor();
    await page.getByRole("button", { name: "Remove login.example, eve@example.test" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    return page;
  };
  const page = await remove(ada);
  await region(page, "Sign-in providers").waitFor({ state: "detached" });
  expect(await readError(await remove(ben))).toContain("no other way to sign in");
});

/** Confirms a change of the second factor in its dialog. */
async function confirmWith(page: Page, dialogName: string, label: string, password = PASSWORD): Promise<void> {
  const dialog = page.getByRole("dialog", { name: dialogName });
  await dialog.getByLabel("Password").fill(password);
  await dialog.getByRole("button", { name: label }).click();
}

/** Sets up an authenticator with the secret that the page shows. Returns it with the recovery codes. */
async function setUpAuthenticator(page: Page): Promise<{ secret: string; codes: string[] }> {
  await page.getByRole("img", { name: /QR code/ }).waitFor();
  const secret = await page.getByRole("textbox", { name: "Secret" }).inputValue();
  await page.getByLabel("Code", { exact: true }).fill("000000");
  await button(page, "Turn on").click();
  expect(await readError(page)).toBe("Code is wrong or has expired.");
  await page.getByLabel("Code", { exact: true }).fill(showCode(secret));
  await button(page, "Turn on").click();
  const codes = (await page.getByRole("textbox", { name: "Recovery codes" }).inputValue()).split("\n");
  const [file] = await Promise.all([page.waitForEvent("download"), button(page, "Download").click()]);
  const text = await Bun.file(await file.path()).text();
  expect(codes.every((code) => text.includes(code))).toBe(true);
  await button(page, "I have saved them").click();
  return { secret, codes };
}

test("with an old session each change asks for the password, then for the second factor, and is repeated", async () => {
  // 404: a new password ends the session that is being replaced, too.
  expectFailures(401, 403, 404, 422);
  const user = await newUser();
  const page = await open("/account/security", user);
  const section = region(page, "Second factor");
  await section.getByText("Off", { exact: true }).waitFor();
  server().advance(DAY_MS);
  await button(page, "Set up an authenticator app").click();
  await confirmWith(page, "Add an authenticator app", "Continue");
  // A wrong password keeps the session.
  const dialog = page.getByRole("dialog", { name: "Enter your password" });
  await dialog.getByLabel("Password").fill("wrong horse battery");
  await dialog.getByRole("button", { name: "Continue" }).click();
  expect(await readError(page)).toContain("password is wrong");
  await signInAgain(page, PASSWORD);
  const { secret, codes } = await setUpAuthenticator(page);
  await section.getByText("10 recovery codes left").waitFor();

  server().advance(DAY_MS);
  await button(page, "Replace recovery codes").click();
  await page.getByRole("textbox", { name: "Password", exact: true }).fill(PASSWORD);
  await button(page, "Replace codes").click();
  await signInAgain(page, PASSWORD, secret);
  const replaced = (await page.getByRole("textbox", { name: "Recovery codes" }).inputValue()).split("\n");
  expect(replaced.filter((code) => codes.includes(code))).toEqual([]);
  await button(page, "I have saved them").click();

  server().advance(DAY_MS);
  await page.getByLabel("Current password").fill(PASSWORD);
  await page.getByLabel("New password").fill(NEW_PASSWORD);
  await button(page, "Change password").click();
  await signInAgain(page, PASSWORD, secret);
  await page.getByText("Password changed.").waitFor();

  server().advance(DAY_MS);
  await button(page, "Turn off").click();
  await page.getByRole("textbox", { name: "Password", exact: true }).fill(NEW_PASSWORD);
  await page.getByRole("dialog").getByRole("button", { name: "Turn off" }).click();
  const isReplaced = page.waitForResponse("**/api/v1/sessions/*");
  await signInAgain(page, NEW_PASSWORD, secret);
  await section.getByText("Off", { exact: true }).waitFor();
  await isReplaced;
  // A session that a new one has replaced is in no list.
  await page.reload();
  await page.getByText("This session").waitFor();
  expect(await page.getByRole("table", { name: "Sessions" }).getByRole("row").count()).toBe(2);
});

test("without a password the second sign-in is that at the provider", async () => {
  expectFailures(403);
  const page = await open("/account/security", await server().user());
  await page.getByText("Your account has no password").waitFor();
  server().advance(DAY_MS);
  await button(page, "Set up an authenticator app").click();
  await page
    .getByRole("dialog", { name: "Add an authenticator app" })
    .getByRole("button", { name: "Continue" })
    .click();
  await page.getByRole("dialog", { name: "Sign in again" }).getByRole("button", { name: "Go to sign-in" }).click();
  await page.waitForURL(address(`/sign-in?${new URLSearchParams({ redirect: "/account/security" })}`));
});

test("an export is requested and downloaded; a failed one shows what is safe", async () => {
  const user = await newUser();
  const page = await open("/account/data", user);
  await button(page, "Request an export").click();
  const download = button(page, "Download");
  await download.waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), download.click()]);
  expect(file.suggestedFilename()).toEndWith(".zip");
  const notification = {
    type: "data_export_ready",
    payload: {
      status: "failed",
      requested_at: new Date().toISOString(),
      has_media: true,
      finished_at: null,
      expires_at: null,
      size_bytes: null,
      error_message: "The server is low on storage.",
      download_url: null,
    },
  };
  await page.route("**/api/v1/users/me/export", (route) =>
    route.fulfill({ json: { notification, written_bytes: null } }),
  );
  await page.reload();
  await page.getByText("The server is low on storage. Your data was not changed.").waitFor();
  await button(page, "Request a new export").waitFor();
});

const deleteAccount = async (page: Page) => {
  await button(page, "Delete account…").click();
  await page.getByRole("listitem").filter({ hasText: "1,000 credits" }).waitFor();
  await button(page, "Delete account").click();
};

test("an account is deleted after a warning about the losses, and restored on any page", async () => {
  expectFailures(403);
  const user = await newUser();
  const page = await open("/account/data", user);
  server().advance(DAY_MS);
  await deleteAccount(page);
  await signInAgain(page, PASSWORD);
  const restore = button(page, "Restore account");
  await restore.waitFor();
  await page.goto(address("/projects"));
  await page.getByText("Restore your account to open this page").waitFor();
  await page.goto(address("/account"));
  await page.getByLabel("First name").waitFor();
  await page.goto(address("/projects"));
  await restore.click();
  await page.getByRole("heading", { name: "Drop a recording, get a cut" }).waitFor();
});

test("another tab learns that the account is being deleted", async () => {
  expectFailures(403);
  const user = await newUser();
  const page = await open("/projects", user);
  await (await startSession(server(), user)).must("DELETE", "/api/v1/users/me");
  await button(page, "Restore account").waitFor();
});

test("the last administrator and the last owner of a workspace cannot delete their accounts", async () => {
  expectFailures(409);
  const refuse = async (user: Client) => {
    const page = await open("/account/data", user);
    await button(page, "Delete account…").click();
    await button(page, "Delete account").click();
    return readError(page);
  };
  const owner = await newUser();
  const session = await startSession(server(), owner);
  await session.must("POST", "/api/v1/workspaces", { json: { name: "Studio" } });
  expect(await refuse(owner)).toContain('"Studio". Make another member an owner, or delete the workspaces.');
  expect(await refuse(await createAdmin(server()))).toContain("administrator");
});
