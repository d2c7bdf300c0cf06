/** A studio's first day with the executable: three people, two real recordings, from the setup link to the audit log. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { generateSync } from "otplib";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { launchChromium } from "../chromium";
import { FIXTURES } from "../e2e/offcut";
import { admin, type Server, startServer } from "../e2e/server";
import { PASSWORD } from "../http/accounts";
import { wav } from "../http/media";
import { watch } from "./dashboard";

setDefaultTimeout(600_000);

const HOST = "studio.test";
/** Speech recognition on a machine that is many times slower. Only what fails takes as long. */
const PATIENCE_MS = 180_000;
/** The browser's report of the first call of a page that has no session, and of what a page has asked in the moment of its sign-out. */
const NO_SESSION = /^Failed to load resource: .* 401 .*\/api\/v1\//;

let server: Server;
let browser: Browser;
const problems: string[] = [];
beforeAll(async () => {
  server = await startServer();
  browser = await launchChromium([`--host-resolver-rules=MAP ${HOST} 127.0.0.1`]);
});
afterEach(() => expect(problems).toEqual([]));
afterAll(async () => {
  await browser.close();
  await server[Symbol.asyncDispose]();
});

/** The address of a path or of a link of the server, under a host name as on a LAN. */
function address(path: string): string {
  const url = new URL(path, server.url());
  return `http://${HOST}:${new URL(server.url()).port}${url.pathname}${url.search}${url.hash}`;
}

/** Opens the browser of another person. */
async function arrive(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext(options);
  watch(context, address("").replace(/\/$/, ""), (problem) => !NO_SESSION.test(problem) && problems.push(problem));
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(address(path));
  return page;
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name }).waitFor();

/** Adds a member by address, and returns the invitation link. */
async function invite(page: Page, email: string, role: string): Promise<string> {
  await button(page, "Add a member").click();
  const dialog = page.getByRole("dialog", { name: "Add a member" });
  await dialog.getByLabel("Email").fill(email);
  await dialog.getByLabel(role).check();
  await dialog.getByRole("button", { name: "Add" }).click();
  const link = await page.getByLabel("Invitation link", { exact: true }).inputValue();
  await button(page, "Done").click();
  return link;
}

async function accept(link: string): Promise<Page> {
  const page = await arrive(link);
  await page.getByLabel("New password").fill(PASSWORD);
  await button(page, "Create the account").click();
  await heading(page, "Projects");
  return page;
}

async function setUpSecondFactor(page: Page): Promise<string> {
  await page.goto(address("/account/security"));
  await button(page, "Set up an authenticator app").click();
  const question = page.getByRole("dialog", { name: "Add an authenticator app" });
  await question.getByLabel("Password").fill(PASSWORD);
  await question.getByRole("button", { name: "Continue" }).click();
  const dialog = page.getByRole("dialog", { name: "Set up an authenticator app" });
  const secret = await dialog.getByLabel("Secret", { exact: true }).inputValue();
  await dialog.getByLabel("Code", { exact: true }).fill(generateSync({ secret }));
  await dialog.getByRole("button", { name: "Turn on" }).click();
  await button(page, "I have saved them").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  return secret;
}

async function signIn(page: Page, email: string, secret: string): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(PASSWORD);
  await button(page, "Sign in").click();
  const field = page.getByLabel("Code", { exact: true });
  await field.waitFor();
  // Each code works once: this is the one of the next half minute, which the server accepts for clocks that differ.
  const code = generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + 30 });
  await field.fill(code);
  await button(page, "Sign in").click();
}

test("an administrator, an editor and a producer", async () => {
  const { url } = await admin<{ url: string }>(server.folder, "setup-url");
  const ada = await arrive(url);
  await ada.getByLabel("Email").fill("ada@studio.example");
  await ada.getByLabel("New password").fill(PASSWORD);
  await button(ada, "Create the account").click();
  await heading(ada, "Projects");

  await ada.goto(address("/workspaces"));
  await button(ada, "New workspace").first().click();
  await ada.getByLabel("Name", { exact: true }).fill("Morning show");
  await button(ada, "Create").click();
  await heading(ada, "Morning show");
  const workspacePath = new URL(ada.url()).pathname;
  const editorLink = await invite(ada, "eve@studio.example", "Editor");
  const producerLink = await invite(ada, "paul@studio.example", "Viewer");

  await ada.goto(address("/admin/users"));
  await ada.getByRole("link", { name: "ada@studio.example" }).click();
  await heading(ada, "ada@studio.example");
  await ada.getByRole("spinbutton", { name: "Credits" }).fill("500");
  await ada.getByLabel("Workspace", { exact: true }).last().selectOption({ label: "Morning show" });
  await button(ada, "Change credits").click();
  await ada.getByText("Added 500 credits.").waitFor();

  const eve = await accept(editorLink);
  const secret = await setUpSecondFactor(eve);
  await eve.getByRole("button", { name: /^Account/ }).click();
  await eve.getByRole("menuitem", { name: "Sign out" }).click();
  await eve.waitForURL(/\/sign-in/);
  await signIn(eve, "eve@studio.example", secret);
  await eve.getByLabel("Workspace", { exact: true }).selectOption({ label: "Morning show" });

  await button(eve, "New project").first().click();
  await eve.getByLabel("Name", { exact: true }).fill("Interviews");
  await button(eve, "Create").click();
  await heading(eve, "Interviews");
  const files = eve.getByLabel("Upload files");
  const asset = (name: string) => eve.getByRole("listitem").filter({ has: eve.getByRole("link", { name }) });
  const talk = { name: "talk.mp4", mimeType: "video/mp4", buffer: await readFile(join(FIXTURES, "talk.mp4")) };
  const script = await readFile(join(FIXTURES, "talk.script.txt"));
  await files.setInputFiles([talk, { name: "Talk.txt", mimeType: "text/plain", buffer: script }]);
  await asset("talk.mp4")
    .getByRole("img", { name: /All checked|to review/ })
    .waitFor();
  // The cut can be there before the video is prepared, which a render needs.
  await asset("talk.mp4")
    .getByText(/^(Preparing|Transcribing)/)
    .waitFor({ state: "detached" });
  await files.setInputFiles({ name: "jingle.wav", mimeType: "audio/wav", buffer: Buffer.from(await wav(2)) });
  await asset("jingle.wav").getByText("0:02").first().waitFor();

  await eve.getByRole("link", { name: "talk.mp4" }).click();
  const transcript = eve.getByRole("region", { name: "Transcript" });
  const words = transcript.getByRole("group", { name: "Words" });
  // The cut was made after the upload.
  await transcript.locator("s").first().waitFor();
  expect(await words.textContent()).toContain("bookshelf");
  await words.focus();
  await eve.keyboard.press("Control+ArrowRight");
  await eve.keyboard.press("Delete");
  await eve
    .getByRole("status")
    .getByText(/^1 word removed/)
    .waitFor();
  const drafted = eve.url();
  await button(eve, "Save").click();
  await eve.waitForURL((found) => found.href !== drafted);
  const recording = eve.url();

  await button(eve, "Render").click();
  await eve.getByRole("dialog", { name: "Render" }).getByLabel("Resolution").selectOption("144p");
  await button(eve, "Start").click();
  await button(eve, "Download").waitFor();
  await eve.locator(".work-bar").getByRole("button", { name: "Share" }).click();
  await button(eve, "Create link").click();
  const link = await eve.getByLabel("Direct download", { exact: true }).inputValue();
  const shared = await fetch(new URL(new URL(link).pathname + new URL(link).search, server.url()));
  expect([shared.status, shared.headers.get("content-type")]).toEqual([200, "video/mp4"]);
  expect((await shared.bytes()).subarray(4, 8)).toEqual(new TextEncoder().encode("ftyp"));

  const paul = await accept(producerLink);
  await paul.getByLabel("Workspace", { exact: true }).selectOption({ label: "Morning show" });
  await paul.goto(recording);
  await button(paul, "Play the cut").waitFor();
  await paul.getByRole("tab", { name: "Renders" }).click();
  await button(paul, "Download").waitFor();
  for (const name of ["Make cut", "Save", "Render", "Undo", "Share"]) expect(await button(paul, name).count()).toBe(0);
  await paul.goto(address("/admin/users"));
  await heading(paul, "Page not found");

  await ada.goto(address("/admin/audit"));
  const log = ada.getByRole("table", { name: "Audit log" });
  await log.getByText("Changed credits").first().waitFor();
  const text = (await log.textContent()) ?? "";
  for (const action of ["Set up the server", "Invited a member to a workspace", "Accepted an invitation"])
    expect(text).toContain(action);
  expect(text).toContain("Changed the second factor");
  await ada.goto(address(workspacePath));
  await ada.getByRole("table", { name: "Members" }).getByText("paul@studio.example").waitFor();
});
