/** A real browser over plain HTTP: renders, downloads, share links and exports of a cut on the asset page. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { sql } from "drizzle-orm";
import type { BrowserContext, Page } from "playwright-core";
import { shareChromium } from "../chromium";
import { startSession } from "../http/accounts";
import type { Client } from "../http/client";
import { type Harness, harness } from "../http/harness";
import { video } from "../http/media";
import type { Cut } from "../http/resources";
import { until } from "../until";
import { expectAccessible } from "./axe";
import { saveScreenshots } from "./screenshots";

/** For a machine that is many times slower. Only failing tests take this long. */
setDefaultTimeout(300_000);
const ACTION_MS = 90_000;

const HOST = "studio.test";

let server: Harness;
let user: Client;
let cut: Cut;
let context: BrowserContext;
let page: Page;
const problems: string[] = [];

const address = (path: string) => `http://${HOST}:${new URL(server.url()).port}${path}`;

beforeAll(async () => {
  server = await harness();
  user = await server.user();
  const { key } = await startSession(server, user);
  const asset = await user.ready(await video(4));
  cut = await user.cutEnded((await user.startCut({ asset_id: asset.id })).id);
  const browser = await shareChromium([`--host-resolver-rules=MAP ${HOST} 127.0.0.1`]);
  context = await browser.newContext({ acceptDownloads: true });
  await context.addCookies([{ name: "service_session", value: key, domain: HOST, path: "/" }]);
  context.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) problems.push(message.text());
  });
  context.on("weberror", (error) => problems.push(String(error.error())));
  context.setDefaultTimeout(ACTION_MS);
  page = await context.newPage();
  await page.goto(address(`/assets/${asset.id}`));
});
afterAll(async () => {
  await context.close();
  await server[Symbol.asyncDispose]();
});

const button = (name: string) => page.getByRole("button", { name, exact: true });

/** Presses the button "Download" and returns the file's name and text. */
async function download(): Promise<{ name: string; text: string }> {
  const [file] = await Promise.all([page.waitForEvent("download"), button("Download").click()]);
  const chunks: Buffer[] = [];
  for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer);
  return { name: file.suggestedFilename(), text: Buffer.concat(chunks).toString("latin1") };
}

test("a render is started from a preset within the settings of the recording, and downloaded", async () => {
  await page.getByRole("tab", { name: "Renders" }).click();
  await button("Render…").click();
  const dialog = page.getByRole("dialog", { name: "Render" });
  expect(await dialog.textContent()).toContain("Fastest");
  const preset = (name: string) => dialog.getByRole("button", { name, exact: true });
  const format = dialog.getByLabel("Format");
  await preset("Podcast").click();
  expect([await format.inputValue(), await dialog.getByLabel("Loudness").inputValue()]).toEqual(["mp3", "-16"]);
  // The recording has fewer lines than this preset.
  expect(await preset("Small file").count()).toBe(0);
  const loudness = dialog.getByLabel("Loudness");
  await loudness.selectOption("Other target");
  const target = dialog.getByLabel("Target");
  expect(await target.inputValue()).toBe("-16");
  // Within a longer number, that of a target with a name.
  for (const text of ["-14", "-14.5"]) {
    await target.fill(text);
    expect([await loudness.inputValue(), await target.inputValue()]).toEqual(["own", text]);
  }
  await target.fill("-8");
  await preset("Save as preset…").click();
  await dialog.getByLabel("Name of the preset").fill("Too loud");
  await page.keyboard.press("Enter");
  expect([
    await target.evaluate((field) => field === document.activeElement),
    await preset("Too loud").count(),
  ]).toEqual([true, 0]);
  for (const text of ["-20", ""]) {
    await target.fill(text);
    await preset("As recorded").click();
    expect([await loudness.inputValue(), await target.count()]).toEqual(["", 0]);
    await loudness.selectOption("Other target");
  }
  await preset("As recorded").click();
  await dialog.getByLabel("Resolution").selectOption("144p");
  expect(await dialog.textContent()).toContain("Estimated size: about");
  await dialog.getByLabel("Frame rate").fill("5");
  await preset("Save as preset…").click();
  await dialog.getByLabel("Name of the preset").fill("Preview");
  await page.keyboard.press("Enter");
  expect(await preset("Preview").getAttribute("aria-pressed")).toBe("true");
  await preset("Podcast").click();
  await page.reload();
  await button("Render").click();
  await preset("Preview").click();
  expect([await format.inputValue(), await dialog.getByLabel("Resolution").inputValue()]).toEqual(["mp4", "144p"]);
  await button("Start").click();
  await dialog.waitFor({ state: "detached" });
  await until("the end of the render", async () => (await button("Download").count()) === 1);
  const [render] = (await user.must<{ items: object[] }>("GET", `/v1/renders?cut_id=${cut.id}`)).items;
  expect(render).toMatchObject({ output: { format: "mp4", resolution: "144p", frame_rate: 5 } });
  const { name, text } = await download();
  expect(name).toEndWith(".mp4");
  expect(text.slice(4, 8)).toBe("ftyp");
  await button("Render").click();
  await preset("Preview").click();
  await button("Delete the preset Preview").click();
  await preset("Preview").waitFor({ state: "detached" });
  await page.keyboard.press("Escape");
});

test("a share link is shown once, copied without a secure context, and works without an account", async () => {
  expect(await page.evaluate(() => window.isSecureContext)).toBe(false);
  await page.locator(".work-bar").getByRole("button", { name: "Share" }).click();
  await page.getByLabel("Expires after").selectOption("3600");
  await page.getByLabel("Password").fill("larch and oak");
  await button("Create link").click();
  const link = await page.getByLabel("Link", { exact: true }).inputValue();
  await button("Copy link").click();
  await until("the note", async () => (await page.getByRole("dialog").textContent())?.includes("Copied."));
  await page.keyboard.press("Escape");
  expect(await page.getByLabel("Link", { exact: true }).inputValue()).toBe(link);
  await button("Done").click();
  const { pathname, search } = new URL(link);
  // Somebody without an account.
  const guests = await context.browser()!.newContext();
  guests.setDefaultTimeout(ACTION_MS);
  const loaded: string[] = [];
  guests.on("request", (request) => loaded.push(request.url()));
  const guest = await guests.newPage();
  await guest.emulateMedia({ colorScheme: "dark" });
  await guest.goto(address(pathname + search));
  await expectAccessible(guest);
  await guest.getByLabel("Password").fill("larch and elm");
  await guest.getByRole("button", { name: "Open" }).click();
  await guest.getByText("Wrong password. Try again.").waitFor();
  await expectAccessible(guest);
  await guest.emulateMedia({ colorScheme: "light" });
  await guest.getByLabel("Password").fill("larch and oak");
  await guest.getByRole("button", { name: "Open" }).click();
  const player = guest.getByLabel("Player");
  await player.evaluate((media: HTMLMediaElement) => {
    media.muted = true;
    return media.play();
  });
  expect(await guest.getByRole("region", { name: "Transcript" }).textContent()).toContain("alpha");
  await until("captions", () =>
    player.evaluate((media: HTMLVideoElement) => {
      const [track] = media.textTracks;
      if (track !== undefined) track.mode = "showing";
      return (track?.cues?.length ?? 0) > 0;
    }),
  );
  await until("playback", () => player.evaluate((media: HTMLMediaElement) => media.currentTime > 0));
  await expectAccessible(guest);
  await saveScreenshots(guest);
  const [file] = await Promise.all([
    guest.waitForEvent("download"),
    guest.getByRole("link", { name: "Download" }).click(),
  ]);
  expect(file.suggestedFilename()).toEndWith(".cut.mp4");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Share");

  await page.locator(".render-actions").getByRole("button", { name: "Share" }).click();
  await page.getByRole("button", { name: /^Revoke the link/ }).click();
  await page.getByRole("region", { name: "Active links" }).waitFor({ state: "detached" });
  await guest.reload();
  await guest.getByRole("heading", { name: "This recording is no longer shared" }).waitFor();
  await expectAccessible(guest);
  await saveScreenshots(guest);
  expect(loaded.filter((url) => !/^data:/.test(url) && !url.startsWith(address("/")))).toEqual([]);
  await guests.close();
  await button("Cancel").click();
});

test("files that are dropped beside their place are not opened", async () => {
  const isIgnored = await page.evaluate(() => {
    const dataTransfer = new DataTransfer();
    // One text file would become the script.
    for (const name of ["x.txt", "y.txt"]) dataTransfer.items.add(new File(["x"], name));
    const event = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
    return !document.querySelector("h1, h2")!.dispatchEvent(event);
  });
  expect(isIgnored).toBe(true);
  // The reply comes after the limits are read, and would replace that of a later action.
  const refusal = page.getByRole("status").filter({ hasText: "not used" });
  await refusal.getByRole("button", { name: "Dismiss" }).click();
  await refusal.waitFor({ state: "detached" });
});

test("exports and subtitles are downloaded, with the programs that read them", async () => {
  // Escape would clear the range, and keys do nothing behind a dialog that is closing.
  await page.locator("dialog[open]").waitFor({ state: "detached" });
  await button("Undo").waitFor();
  await page.keyboard.press("i");
  await page.getByText("Range starts here").waitFor();
  await button("Export").click();
  const dialog = page.getByRole("dialog", { name: "Export" });
  expect(await dialog.textContent()).toContain("Premiere ProXML, also for DaVinci Resolve");
  const save = async () => {
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      dialog.getByRole("button", { name: "Download" }).click(),
    ]);
    return file.suggestedFilename();
  };
  expect(await save()).toBe("asset.cut.fcpxml");
  await dialog.getByLabel("Avid Media Composer").check();
  await dialog.getByLabel("Layout").selectOption("review");
  expect(await save()).toBe("asset.review.edl");
  await dialog.getByLabel("YouTube, video players").check();
  expect(await save()).toEndWith(".srt");
  await dialog.getByLabel("Word, Google Docs").check();
  expect(await save()).toBe("asset.cut.docx");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});

test("a refusal shows advice, and a deleted render disappears", async () => {
  await page.route("**/api/v1/renders", (route) =>
    route.request().method() === "POST"
      ? route.fulfill({ status: 402, json: { detail: "Not enough credits.", code: "insufficient_credits" } })
      : route.continue(),
  );
  await button("Render").click();
  await button("Start").click();
  await until("the refusal", async () =>
    (await page.getByRole("dialog").getByRole("alert").textContent())?.includes("Open credits"),
  );
  await page.keyboard.press("Escape");
  await button("Delete").click();
  await button("Delete file").click();
  await until("an empty list", async () => (await button("Download").count()) === 0);
  expect(problems.filter((text) => !text.includes("402"))).toEqual([]);
});

test("a render that failed is started again from its row and from the library, as it was", async () => {
  const output = { format: "mp3", file_name: "Episode" };
  await user.renderEnded((await user.startRender({ asset_id: cut.asset_id, cut_id: cut.id, output })).id);
  type Listed = { id: string; cut_id: string | null; state: string; output: object };
  const list = async () => (await user.must<{ items: Listed[] }>("GET", `/v1/renders?asset_id=${cut.asset_id}`)).items;
  const failNewest = async () => {
    const failure = sql`state = 'failed', error_code = 'processing_failed', error_message = 'The encoder stopped.'`;
    const [newest] = await list();
    await server.services().store.write((tx) => tx.run(sql`UPDATE renders SET ${failure} WHERE id = ${newest!.id}`));
  };
  const expectRendered = async (count: number) => {
    await until("the render", async () => (await list()).filter(({ state }) => state === "completed").length === 1);
    const all = await list();
    expect(all).toHaveLength(count);
    expect(all[0]).toMatchObject({ cut_id: cut.id, output });
  };
  await failNewest();
  await page.unroute("**/api/v1/renders");
  await page.reload();
  await page.getByRole("tab", { name: "Renders" }).click();
  await page.getByText("The encoder stopped.").waitFor();
  await expectAccessible(page);
  await saveScreenshots(page);
  await button("Try again").click();
  await page.getByText("The render was started again.").waitFor();
  await expectRendered(2);
  await button("Download").waitFor();
  // Once is enough.
  expect(await button("Try again").count()).toBe(0);

  await failNewest();
  await page.goto(address(`/projects/${(await user.asset(cut.asset_id)).project_id}`));
  await page.getByRole("button", { name: "Actions for Unnamed recording" }).click();
  await page.getByRole("menuitem", { name: "Try the render again" }).click();
  await page.getByText("The render was started again.").waitFor();
  await expectRendered(3);
});
