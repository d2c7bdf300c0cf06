/**
 * A studio's first day with the executable: three people, five recordings, from the setup link to a delivered archive
 * and the audit log. The server is killed during the uploads, and the network goes away during a batch.
 */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { generateSync } from "otplib";
import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from "playwright-core";
import { shareChromium } from "../chromium";
import { FIXTURES } from "../e2e/offcut";
import { admin, type Server, startServer } from "../e2e/server";
import { PASSWORD } from "../http/accounts";
import { makeMedia } from "../http/media";
import { until } from "../until";
import { readZip, testWithUnzip } from "../zip";
import { watch } from "./dashboard";
import { saveScreenshots } from "./screenshots";

setDefaultTimeout(600_000);

const HOST = "studio.test";
/** Speech recognition on a machine that is many times slower. Only failing tests take this long. */
const PATIENCE_MS = 180_000;
/** The browser's report of the first call of a page without a session, and of requests at the moment of sign-out. */
const NO_SESSION = /^Failed to load resource: .* 401 .*\/api\/v1\//;
/** A busy server asks the player to try again. */
const TRY_AGAIN = /^Failed to load resource: .* 503 .*\/pieces\//;
/** Requests of a page while the server or the network is down. */
const NO_ANSWER = /net::ERR_(CONNECTION_|INTERNET_DISCONNECTED|EMPTY_RESPONSE|INCOMPLETE_CHUNKED|NETWORK_CHANGED)/;
const isExpected = (problem: string): boolean =>
  [NO_SESSION, TRY_AGAIN, NO_ANSWER].some((pattern) => pattern.test(problem));

let server: Server;
let browser: Browser;
const contexts: BrowserContext[] = [];
const problems: string[] = [];
beforeAll(async () => {
  server = await startServer();
  browser = await shareChromium([`--host-resolver-rules=MAP ${HOST} 127.0.0.1`]);
});
afterEach(() => expect(problems).toEqual([]));
afterAll(async () => {
  await Promise.all(contexts.map((context) => context.close()));
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
  contexts.push(context);
  watch(context, address("").replace(/\/$/, ""), (problem) => isExpected(problem) || problems.push(problem));
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(address(path));
  return page;
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name }).waitFor();

/** Adds a member by address, and returns the invitation link. */
async function invite(page: Page, email: string, role: string): Promise<string> {
  await button(page, "Invite a member").click();
  const dialog = page.getByRole("dialog", { name: "Invite a member" });
  await dialog.getByLabel("Email").fill(email);
  await dialog.getByLabel(role).check();
  await dialog.getByRole("button", { name: "Invite" }).click();
  const link = await page.getByLabel("Invitation link", { exact: true }).inputValue();
  await button(page, "Done").click();
  return link;
}

async function accept(link: string, name: string): Promise<Page> {
  const page = await arrive(link);
  await page.getByLabel("Your name").fill(name);
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

const TALK = join(FIXTURES, "talk.mp4");

/** Parts of a talk, the first one as video. Their speech is recognized in a second or two. */
const makeRecordings = async () => [
  await makeRecording("Talk.mp4", "video/mp4", 0, 21, "-c", "copy"),
  ...(await Promise.all(
    ["Oak", "Pine", "Ash", "Elm"].map((name, n) =>
      makeRecording(`${name}.wav`, "audio/wav", 1 + n * 6, 5, "-vn", "-ac", "1"),
    ),
  )),
];

async function makeRecording(name: string, mimeType: string, start: number, seconds: number, ...options: string[]) {
  const bytes = await makeMedia(name, "-ss", String(start), "-i", TALK, "-t", String(seconds), ...options);
  return { name, mimeType, buffer: Buffer.from(bytes) };
}

/**
 * Kills the server in the middle of the next upload, and starts it again where open pages look for it. No upload is
 * being created then: one whose reply is lost is created again, and the first one stays as a file that was not
 * uploaded.
 */
async function killDuringUpload(page: Page): Promise<void> {
  const { port } = new URL(server.url());
  const restarted = Promise.withResolvers<void>();
  const creating = new Set<Request>();
  let isKilling = false;
  page.on("response", (response) => void creating.delete(response.request()));
  page.on("requestfailed", (request) => void creating.delete(request));
  await page.route(/\/(upload-resumable$|uploads\/)/, async (route) => {
    if (route.request().method() === "POST") {
      if (isKilling) await restarted.promise;
      creating.add(route.request());
    } else if (route.request().method() === "PATCH") {
      isKilling = true;
      await until("the replies to creations", async () => creating.size === 0);
    }
    await route.continue();
  });
  await page.waitForRequest((request) => request.method() === "PATCH" && request.url().includes("/uploads/"));
  await until("the replies to creations", async () => isKilling && creating.size === 0);
  await server.kill();
  await server.start({}, port);
  restarted.resolve();
  await page.unrouteAll({ behavior: "wait" });
}

test("an administrator, an editor and a viewer", async () => {
  const { url } = await admin<{ url: string }>(server.folder, "setup-url");
  const ada = await arrive(url);
  await ada.getByLabel("Email").waitFor();
  await saveScreenshots(ada);
  await ada.getByLabel("Email").fill("ada@studio.example");
  await ada.getByLabel("New password").fill(PASSWORD);
  await button(ada, "Create the account").click();
  await heading(ada, "Projects");
  await saveScreenshots(ada);

  await ada.goto(address("/workspaces"));
  await button(ada, "New workspace").first().click();
  await ada.getByLabel("Name", { exact: true }).fill("Morning show");
  await button(ada, "Create").click();
  await heading(ada, "Morning show");
  const workspacePath = new URL(ada.url()).pathname;
  const editorLink = await invite(ada, "eve@studio.example", "Editor");
  const viewerLink = await invite(ada, "paul@studio.example", "Viewer");
  await saveScreenshots(ada);

  await ada.goto(address("/admin/users"));
  await ada.getByRole("link", { name: "ada@studio.example" }).click();
  await heading(ada, "ada@studio.example");
  await ada.getByRole("spinbutton", { name: "Credits" }).fill("500");
  await ada.getByLabel("Workspace", { exact: true }).last().selectOption({ label: "Morning show" });
  await button(ada, "Change credits").click();
  await ada.getByText("Added 500 credits.").waitFor();
  await saveScreenshots(ada);

  const eve = await accept(editorLink, "Eve Lindqvist");
  const secret = await setUpSecondFactor(eve);
  await saveScreenshots(eve);
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
  const recordings = await makeRecordings();
  const script = await readFile(join(FIXTURES, "talk.script.txt"));
  const killed = killDuringUpload(eve);
  await files.setInputFiles([...recordings, { name: "Talk.txt", mimeType: "text/plain", buffer: script }]);
  await killed;
  await saveScreenshots(eve);
  const asset = (name: string) => eve.getByRole("listitem").filter({ has: eve.getByRole("link", { name }) });
  for (const { name } of recordings) {
    await asset(name)
      .getByRole("img", { name: /All checked|to review/ })
      .waitFor();
    // The cut may exist before the video is prepared, which a render needs.
    await asset(name)
      .getByText(/^(Preparing|Transcribing)/)
      .waitFor({ state: "detached" });
  }

  await eve.getByLabel("Select Oak.wav").check();
  await eve.getByLabel("Select Oak.wav").press("Control+a");
  await saveScreenshots(eve);
  await button(eve, "Render").click();
  const batch = eve.getByRole("dialog", { name: "Render 5 recordings" });
  await batch.getByLabel("Format").selectOption({ label: "M4A audio" });
  const sent = eve.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/renders"));
  await batch.getByRole("button", { name: "Render" }).click();
  await sent;
  await eve.context().setOffline(true);
  await eve.getByText("The server does not respond").first().waitFor();
  await saveScreenshots(eve);
  await eve.context().setOffline(false);
  await eve.getByText("Done: 5").waitFor();
  for (const { name } of recordings) await asset(name).getByText("Rendered").waitFor();

  await eve.getByRole("link", { name: "Talk.mp4" }).click();
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
  await saveScreenshots(eve);

  await button(eve, "Render").click();
  await eve.getByRole("dialog", { name: "Render" }).getByLabel("Resolution").selectOption("144p");
  await button(eve, "Start").click();
  // Beside the one of the batch.
  await button(eve, "Download").nth(1).waitFor();
  await eve.locator(".work-bar").getByRole("button", { name: "Share" }).click();
  await button(eve, "Create link").click();
  await saveScreenshots(eve);
  const link = await eve.getByLabel("Direct download", { exact: true }).inputValue();
  const shared = await fetch(new URL(new URL(link).pathname + new URL(link).search, server.url()));
  expect([shared.status, shared.headers.get("content-type")]).toEqual([200, "video/mp4"]);
  expect((await shared.bytes()).subarray(4, 8)).toEqual(new TextEncoder().encode("ftyp"));

  const paul = await accept(viewerLink, "Paul Okoye");
  await paul.getByLabel("Workspace", { exact: true }).selectOption({ label: "Morning show" });
  await paul.getByRole("link", { name: "Interviews" }).click();
  await paul.getByRole("img", { name: "Added by Eve Lindqvist" }).first().waitFor();
  await paul.getByLabel("Select Oak.wav").check();
  await paul.getByLabel("Select Oak.wav").press("Control+a");
  expect(
    await paul.getByRole("toolbar", { name: "Selected recordings" }).getByRole("button").allTextContents(),
  ).toEqual(["", "Export"]);
  for (const name of ["Upload", "New project", "Actions for Oak.wav"])
    expect(await paul.getByRole("button", { name }).count()).toBe(0);
  await button(paul, "Export").click();
  const delivery = paul.getByRole("dialog", { name: "Export 5 recordings" });
  await delivery.getByLabel("Newest render").check();
  await saveScreenshots(paul);
  const download = paul.waitForEvent("download");
  await delivery.getByRole("button", { name: "Export" }).click();
  const archive = await (await download).path();
  expect(await testWithUnzip(archive)).toBe(0);
  const names = (await readZip(archive, () => false)).entries.map(({ fileName }) => fileName);
  const folders = ["Talk", "Oak", "Pine", "Ash", "Elm"];
  expect(new Set(names.map((name) => name.split("/")[0]))).toEqual(new Set(folders));
  for (const folder of folders)
    for (const extension of ["fcpxml", "srt", "txt", folder === "Talk" ? "mp4" : "m4a"])
      expect(names.filter((name) => name.startsWith(`${folder}/`) && name.endsWith(extension)).length).toBe(1);
  expect(names.length).toBe(folders.length * 4);
  await paul.goto(recording);
  await button(paul, "Play the cut").waitFor();
  await paul.getByRole("tab", { name: "Renders" }).click();
  await button(paul, "Download").first().waitFor();
  await saveScreenshots(paul);
  for (const name of ["Make cut", "Save", "Render", "Undo", "Share"]) expect(await button(paul, name).count()).toBe(0);
  await paul.goto(address("/admin/users"));
  await heading(paul, "Page not found");
  await saveScreenshots(paul);

  await ada.goto(address("/admin/audit"));
  const log = ada.getByRole("table", { name: "Audit log" });
  await log.getByText("Changed credits").first().waitFor();
  await saveScreenshots(ada);
  const text = (await log.textContent()) ?? "";
  for (const action of ["Set up the server", "Invited a member to a workspace", "Accepted an invitation"])
    expect(text).toContain(action);
  expect(text).toContain("Changed the second factor");
  await ada.goto(address(workspacePath));
  await ada.getByRole("table", { name: "Members" }).getByText("paul@studio.example").waitFor();
});
