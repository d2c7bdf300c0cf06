/** Firefox over plain HTTP under a host name: the way from the sign-in to a downloaded render. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import type { Page } from "puppeteer-core";
import { isFullSize } from "../full-size";
import { createAdmin, emailOf, PASSWORD, startSession, withPassword } from "../http/accounts";
import { harness } from "../http/harness";
import { video } from "../http/media";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { PLAY_ROWS } from "./action-play-rows";
import { ROWS, runRows } from "./action-rows";
import { checkCleanAudio } from "./clean-audio-check";
import { expectAccessibleStates } from "./editor-states";
import { FIREFOX, openFirefoxPlayer } from "./firefox-player";
import { createStudioAsset } from "./studio";

setDefaultTimeout(180_000);

const HOST = "studio.test";
const AUDIO_TYPE = 'audio/mp4; codecs="mp4a.40.2"';

/** Starts Firefox with the host's name for this machine and a folder for downloads. */
async function launchFirefox(downloads: string) {
  const { default: puppeteer } = await import("puppeteer-core");
  return puppeteer.launch({
    browser: "firefox",
    executablePath: FIREFOX!,
    extraPrefsFirefox: {
      "network.dns.localDomains": HOST,
      "browser.download.folderList": 2,
      "browser.download.dir": downloads,
      "browser.download.always_ask_before_handling_new_types": false,
      "media.autoplay.default": 0,
    },
  });
}

/** Finds a control as assistive technology does. */
const find = (page: Page, role: string, name: string) => page.locator(`aria/${name}[role="${role}"]`);
const press = (page: Page, name: string) => find(page, "button", name).click();
const shows = (page: Page, text: string) => page.locator(`xpath/.//*[normalize-space(text())="${text}"]`).wait();

/** Reports forbidden console messages. */
function watch(page: Page): string[] {
  const problems: string[] = [];
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (protocol === "http:" && hostname !== HOST) problems.push(`asked another host: ${request.url()}`);
  });
  return problems;
}

test.if(isFullSize && FIREFOX !== null)("from the sign-in to a downloaded render", async () => {
  await using folder = await temporaryFolder();
  await using server = await harness();
  await createAdmin(server);
  const user = await withPassword(server, await server.user());
  await Bun.write(join(folder.path, "Talk.mp4"), (await video(12)) as Uint8Array<ArrayBuffer>);
  await using browser = await launchFirefox(folder.path);
  const page = await browser.newPage();
  await page.setViewport({ width: 1360, height: 850 });
  const problems = watch(page);
  await page.goto(`http://${HOST}:${new URL(server.url()).port}/projects`);
  expect(await page.evaluate(() => window.isSecureContext)).toBe(false);

  await find(page, "textbox", "Email").fill(emailOf(user));
  await page.locator("input[name=password]").fill(PASSWORD);
  await press(page, "Sign in");
  await press(page, "New project");
  await find(page, "textbox", "Name").fill("Talks");
  await press(page, "Create");
  await shows(page, "Talks");

  const input = (await page.waitForSelector("input[type=file]"))!;
  await input.uploadFile(join(folder.path, "Talk.mp4"));
  await find(page, "link", "Talk.mp4").click();

  // The cut was made after the upload.
  await find(page, "button", "Save").wait();
  await page.waitForSelector("[role=group][aria-label=Words]");
  await page.focus("[role=group][aria-label=Words]");
  await page.keyboard.down("Control");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.up("Control");
  await page.keyboard.press("Delete");
  await page.waitForFunction(() => document.body.textContent.includes("1 word removed"));
  const removed = () => page.$$eval("[aria-label=Words] s", (all) => all.map((one) => one.textContent));
  expect(await removed()).toEqual(["alpha"]);
  await press(page, "Undo");
  await shows(page, "Undone: 1 word removed");
  expect(await removed()).toEqual([]);

  await press(page, "Play the cut");
  await until("playback", () => page.$eval("video", (element) => element.currentTime > 0.5));
  expect(await page.$eval("video", ({ error }) => error?.message ?? null)).toBeNull();
  await page.keyboard.press("k");

  await press(page, "Render");
  await press(page, "Start");
  await press(page, "Download");
  // Firefox creates an empty file at first.
  await until("the download", async () => {
    const files = (await readdir(folder.path)).filter((name) => name !== "Talk.mp4");
    return files.length === 1 && files[0]!.endsWith(".mp4") && Bun.file(join(folder.path, files[0]!)).size > 1_000;
  });
  expect(problems).toEqual([]);
});

test.if(isFullSize && FIREFOX !== null)(
  "the states of the editor, and each action by keyboard and by pointer",
  async () => {
    await using folder = await temporaryFolder();
    await using server = await harness();
    const user = await server.user();
    const asset = await createStudioAsset(user);
    await using browser = await launchFirefox(folder.path);
    const { key } = await startSession(server, user);
    await browser.setCookie({ name: "service_session", value: key, domain: HOST, path: "/", httpOnly: true });
    const page = await browser.newPage();
    await page.setViewport({ width: 1360, height: 850 });
    const problems = watch(page);
    await page.goto(`http://${HOST}:${new URL(server.url()).port}/assets/${asset.id}?cut=${asset.takesCutId}`);
    await page.waitForSelector("[aria-label=Words]");
    await expectAccessibleStates(page);
    // Without a sound device, Firefox plays a recording without video only if its volume is 0.
    const volume = `offcut.player.volume.${user.userId}`;
    await page.evaluate((key) => localStorage.setItem(key, "0"), volume);
    await page.reload();
    await page.waitForSelector("[aria-label=Words]");
    await runRows(page, ROWS);
    await page.evaluate((key) => localStorage.removeItem(key), volume);
    const { id } = await user.ready(await video(26));
    await user.cutEnded((await user.startCut({ asset_id: id })).id);
    await page.goto(`http://${HOST}:${new URL(server.url()).port}/assets/${id}`);
    await page.waitForSelector("[aria-label=Words]");
    await runRows(page, PLAY_ROWS);
    expect(problems).toEqual([]);
  },
  390_000,
);

test.if(isFullSize && FIREFOX !== null)("every page in both themes", async () => {
  await using folder = await temporaryFolder();
  await using server = await harness();
  const user = await server.user();
  const { id: projectId } = await user.project();
  const asset = await user.ready(await video(12));
  const admin = await withPassword(server, user);
  const promotion = sql`UPDATE users SET is_admin = 1 WHERE id = ${admin.userId}`;
  await server.services().store.write((tx) => tx.run(promotion));
  await using browser = await launchFirefox(folder.path);
  const page = await browser.newPage();
  const problems = watch(page);
  const address = (path: string) => `http://${HOST}:${new URL(server.url()).port}${path}`;
  await page.goto(address("/projects"));
  await find(page, "textbox", "Email").fill(emailOf(admin));
  await page.locator("input[name=password]").fill(PASSWORD);
  await press(page, "Sign in");
  await shows(page, "Projects");
  const paths = [
    "/projects",
    `/projects/${projectId}`,
    `/assets/${asset.id}`,
    "/jobs",
    ...["", "/history", "/orders", "/invoices"].map((path) => `/credits${path}`),
    "/keys",
    "/webhooks",
    "/workspaces",
    `/workspaces/${admin.userId}`,
    ...["", "/security", "/notifications", "/data"].map((path) => `/account${path}`),
    "/notifications",
    "/status",
    ...["users", `users/${admin.userId}`, "orders", "jobs", "workers", "storage", "health", "audit"].map(
      (path) => `/admin/${path}`,
    ),
  ];
  for (const theme of ["light", "dark"]) {
    await page.evaluate((name) => localStorage.setItem("offcut.theme", name), theme);
    for (const path of paths) {
      await page.goto(address(path));
      await page.waitForSelector("main h1");
      await page.waitForFunction(
        () => document.querySelector(".skeleton, .skeleton-list, main [role=alert] p") === null,
      );
      const shown = await page.evaluate(() => [
        document.documentElement.dataset.theme,
        document.documentElement.scrollWidth > document.documentElement.clientWidth,
      ]);
      expect([path, ...shown]).toEqual([path, theme, false]);
    }
  }
  expect(problems).toEqual([]);
});

test.if(isFullSize && FIREFOX !== null)("clean audio switches without a gap and equals the render", async () => {
  await using server = await harness();
  const user = await server.user();
  const built = await Bun.build({ entrypoints: [join(import.meta.dir, "player-page.ts")], target: "browser" });
  const { key } = await startSession(server, user);
  await using browser = await openFirefoxPlayer(await built.outputs[0]!.text(), key);
  const setup = { piecesUrl: "", previewUrl: "", videoType: null, audioType: AUDIO_TYPE, frameRate: null, duration: 1 };
  const address = `http://${HOST}:${new URL(server.url()).port}/sign-in`;
  await checkCleanAudio({ page: browser.page, user, setup, address });
});
