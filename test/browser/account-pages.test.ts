/** A real browser: the account pages over plain HTTP under a host name, where a browser grants no secure context. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateSync } from "otplib";
import type { Page } from "playwright-core";
import { newId } from "../../src/lib/ids";
import { findUserById } from "../../src/store/users";
import { createInvitation } from "../../src/work/identity/invitations";
import { createAdmin, emailOf, PASSWORD, withPassword } from "../http/accounts";
import { type SmtpReceiver, startSmtpReceiver } from "../smtp";
import { readError, useDashboard } from "./dashboard";

const NEW_PASSWORD = "staple horse correct";

let smtp: SmtpReceiver;
const settings: Record<string, string> = { SIGNUP: "open" };
beforeAll(async () => {
  smtp = await startSmtpReceiver();
  settings.SMTP_URL = smtp.url;
});
const dashboard = useDashboard({ settings });
// After the server, whose connections it waits for.
afterAll(() => smtp[Symbol.asyncDispose]());
const { address, server, expectFailures } = dashboard;

/** Opens a page in a browser without a session. */
const open = (path: string) => dashboard.open(path, null);

/** Types into the fields in their order, with the keyboard only, and submits. The first field has the focus. */
async function typeAndSubmit(page: Page, ...texts: string[]): Promise<void> {
  await page.waitForFunction(() => document.activeElement instanceof HTMLInputElement);
  for (const [index, text] of texts.entries()) {
    if (index > 0) await page.keyboard.press("Tab");
    await page.keyboard.type(text);
  }
  await page.keyboard.press("Enter");
}

const heading = (page: Page, text: string) => page.waitForSelector(`h1:text-is("${text}")`);
const whoAmI = (page: Page) =>
  page.evaluate(async () => ((await (await fetch("/api/v1/users/me")).json()) as { email?: string }).email);
/** Reads the path of the link in the newest mail to an address. */
async function readPath(to: string, after = 0): Promise<string> {
  const { text } = await smtp.mailTo(to, after);
  return /https?:\/\/[^/]+(\/\S+)/.exec(text!)![1]!;
}

/** Asserts that the page has arrived, with a session of the address. */
async function expectSession(page: Page, path: string, email: string): Promise<void> {
  await page.waitForURL(address(path));
  expect(await whoAmI(page)).toBe(email);
  await page.close();
}

test("set-up creates the first administrator", async () => {
  expectFailures(422, 503);
  const before = await open("/sign-in");
  await before.getByRole("main").getByText("offcut setup-url").waitFor();
  await before.close();
  const url = new URL((await server().services().setup.url())!);
  const page = await (await dashboard.browse(null)).newPage();
  await page.route("**/api/v1/billing", (route) => route.fulfill({ status: 503, json: {} }), { times: 1 });
  await page.goto(address(url.pathname + url.hash));
  // Without its last question the form is not sent.
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByLabel("Charge for recordings and renders?").waitFor();
  expect(page.url()).toBe(address("/setup"));
  expect(await page.evaluate(() => window.isSecureContext)).toBe(false);
  await typeAndSubmit(page, "ada@studio.example", "Ada Lovelace", "password123");
  expect(await readError(page)).toStartWith("Password ");
  expect(await page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe("password");
  await page.keyboard.press("Control+A");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL(address("/"));
  await page.getByText("Ada Lovelace").first().waitFor();
  await expectSession(page, "/", "ada@studio.example");
});

test("sign-in returns to the page that required it, and never to another server", async () => {
  expectFailures(401);
  const user = await withPassword(server(), await server().user());
  const page = await open("/sign-in?redirect=%2Fhealthz");
  await typeAndSubmit(page, emailOf(user), "wrong password");
  expect(await readError(page)).toBe("Email address or password is wrong.");
  await page.fill("[name=password]", PASSWORD);
  await page.keyboard.press("Enter");
  // Not a page of the dashboard, so it is loaded. It allows no script to query the session.
  await page.waitForURL(address("/healthz"));
  await page.goto(address("/status"));
  await expectSession(page, "/status", emailOf(user));
  for (const redirect of ["//evil.example", "/\\evil.example"]) {
    const other = await open(`/sign-in?redirect=${encodeURIComponent(redirect)}`);
    await typeAndSubmit(other, emailOf(user), PASSWORD);
    await expectSession(other, "/", emailOf(user));
  }
});

test("sign-in asks for the code of an authenticator", async () => {
  const user = await withPassword(server(), await server().user());
  const page = await open("/sign-in");
  await typeAndSubmit(page, emailOf(user), PASSWORD);
  await page.waitForURL(address("/"));
  const secret = await page.evaluate(async (password) => {
    const body = JSON.stringify({ password });
    const headers = { "Content-Type": "application/json" };
    const created = await fetch("/api/v1/users/me/two-factor", { method: "POST", body, headers });
    return ((await created.json()) as { secret: string }).secret;
  }, PASSWORD);
  const showCode = () => generateSync({ secret, epoch: Math.floor(server().services().now() / 1000) });
  const confirmed = await page.evaluate(async (code) => {
    const body = JSON.stringify({ code });
    const headers = { "Content-Type": "application/json" };
    return (await fetch("/api/v1/users/me/two-factor/confirm", { method: "POST", body, headers })).status;
  }, showCode());
  expect(confirmed).toBe(204);
  server().advance(30_000);
  const next = await open("/sign-in");
  await typeAndSubmit(next, emailOf(user), PASSWORD);
  await heading(next, "Enter your code");
  await typeAndSubmit(next, showCode());
  await expectSession(next, "/", emailOf(user));
  await page.close();
});

test("a forgotten password is set with the mailed link", async () => {
  expectFailures(400, 401, 404);
  const user = await withPassword(server(), await server().user());
  const asking = await open("/forgot-password");
  await typeAndSubmit(asking, emailOf(user));
  await heading(asking, "Check your mail");
  const path = await readPath(emailOf(user));
  const page = await open(path);
  expect(page.url()).toBe(address("/reset-password"));
  await typeAndSubmit(page, NEW_PASSWORD);
  await heading(page, "Password changed");
  const again = await open(path);
  await typeAndSubmit(again, NEW_PASSWORD);
  expect(await readError(again)).toContain("invalid or has expired");
  await page.getByRole("link", { name: "Sign in" }).press("Enter");
  await heading(page, "Sign in");
  await typeAndSubmit(page, emailOf(user), NEW_PASSWORD);
  await expectSession(page, "/", emailOf(user));
  await Promise.all([asking.close(), again.close()]);
});

test("a new account confirms its address", async () => {
  expectFailures(422);
  const email = `${newId()}@example.test`;
  const page = await open("/sign-up");
  await typeAndSubmit(page, email, "Bruno", PASSWORD);
  await page.waitForURL(address("/"));
  const { id } = (await page.evaluate(async () => (await fetch("/api/v1/users/me")).json())) as { id: string };
  const confirming = await open(await readPath(email));
  await confirming.keyboard.press("Tab");
  await confirming.getByRole("button", { name: "Confirm" }).press("Enter");
  // Another browser has no session, so the link requires the password.
  await confirming.getByLabel("Password").fill(PASSWORD);
  await confirming.getByLabel("Password").press("Enter");
  await heading(confirming, "Address confirmed");
  expect(await findUserById(server().services().store.read, id)).toMatchObject({
    email_verified_at: expect.any(Number),
  });
  await Promise.all([page.close(), confirming.close()]);
});

test("a mailed link confirms the address, and mailed codes are a second factor", async () => {
  expectFailures(403);
  const user = await withPassword(server(), await server().user());
  const page = await dashboard.open("/account", user);
  await page.getByRole("button", { name: "Send confirmation link" }).click();
  await page.getByText("A link was sent.").waitFor();
  await page.goto(address(await readPath(emailOf(user))));
  await page
    .getByRole("main")
    .getByRole("button", { name: /^Confirm/ })
    .click();
  await heading(page, "Address confirmed");
  await page.goto(address("/account/security"));
  const confirm = async (name: string, label: string) => {
    const question = page.getByRole("dialog", { name });
    await question.getByLabel("Password").fill(PASSWORD);
    await question.getByRole("button", { name: label }).click();
  };
  await page.getByRole("button", { name: "Use codes by email" }).click();
  await confirm("Turn on the second factor?", "Turn on");
  await page.getByRole("button", { name: "Turn off" }).waitFor();
  server().advance(24 * 3600 * 1000);
  const mails = (await smtp.mailTo(emailOf(user))) && 2;
  await page.getByRole("button", { name: "Turn off" }).click();
  await confirm("Turn off the second factor?", "Turn off");
  const dialog = page.getByRole("dialog", { name: "Enter your password" });
  await dialog.getByLabel("Password").fill(PASSWORD);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await dialog.getByLabel("Code").waitFor();
  const { text } = await smtp.mailTo(emailOf(user), mails);
  await dialog.getByLabel("Code").fill(/\b\d{6}\b/.exec(text!)![0]);
  await dialog.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Use codes by email" }).waitFor();
});

test("an invitation leads to an account", async () => {
  expectFailures(401);
  const admin = await createAdmin(server());
  const email = `${newId()}@example.test`;
  const { store } = server().services();
  const invitedBy = (await findUserById(store.read, admin.userId))!;
  await store.write((tx) =>
    createInvitation(server().services(), tx, { email, userId: null, workspace: null, invitedBy }),
  );
  const page = await open(await readPath(email));
  await heading(page, "Welcome to Offcut");
  await typeAndSubmit(page, "Eve", PASSWORD);
  await expectSession(page, "/", email);
});

test("a device is approved after a sign-in, and another one denied", async () => {
  expectFailures(401, 404);
  type Codes = { device_code: string; user_code: string; verification_uri_complete: string };
  const post = async <T>(path: string, form: Record<string, string>): Promise<T> =>
    (await (
      await fetch(`${server().url()}/oauth/${path}`, { method: "POST", body: new URLSearchParams(form) })
    ).json()) as T;
  const client = { client_id: "Premiere panel" };
  const poll = ({ device_code }: Codes) =>
    post<{ error?: string; scope?: string }>("token", {
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      device_code,
      ...client,
    });
  const user = await withPassword(server(), await server().user());
  const first = await post<Codes>("device/code", { ...client, scope: "read" });
  const page = await open(
    new URL(first.verification_uri_complete).pathname + new URL(first.verification_uri_complete).search,
  );
  await heading(page, "Sign in");
  await typeAndSubmit(page, emailOf(user), PASSWORD);
  await heading(page, "Connect a device");
  expect(await page.inputValue("[name=user_code]")).toBe(first.user_code);
  await page.keyboard.press("Enter");
  await heading(page, "Connect this device?");
  const text = await page.textContent("main");
  for (const fact of ["Premiere panel", first.user_code, emailOf(user), "127.0.0.1", "read your projects"])
    expect(text).toContain(fact);
  await page.getByRole("button", { name: "Approve" }).click();
  await heading(page, "Connected");
  expect(await poll(first)).toMatchObject({ scope: "read" });

  const second = await post<Codes>("device/code", client);
  await page.goto(address("/oauth/device"));
  await typeAndSubmit(page, "BBBB-BBBB");
  expect(await readError(page)).not.toBe("");
  await page.fill("[name=user_code]", second.user_code.toLowerCase().replace("-", ""));
  await page.keyboard.press("Enter");
  await heading(page, "Connect this device?");
  await page.getByRole("button", { name: "Deny" }).click();
  await heading(page, "Denied");
  expect(await poll(second)).toMatchObject({ error: "access_denied" });
  await page.close();
});

test("every page fits a narrow screen, and every field has a name", async () => {
  // The invitation is not one.
  expectFailures(404);
  const paths = ["/setup", "/sign-up", "/forgot-password", "/reset-password#x", "/verify-email#x", "/invitation#x"];
  const page = await open("/sign-in");
  await page.setViewportSize({ width: 320, height: 640 });
  for (const path of paths) {
    await page.goto(address(path));
    await page.waitForSelector("main h1");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    expect(await page.title()).toEndWith(" – Offcut");
    const names = await page.evaluate(() =>
      [...document.querySelectorAll("input")].map(({ labels }) => labels?.[0]?.textContent?.trim() ?? ""),
    );
    expect(names).not.toContain("");
  }
  await page.close();
});
