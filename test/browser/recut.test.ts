/** A real browser: cuts and recordings that are requested while another one is open. */
import { expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { quiet, wav } from "../http/media";
import type { Cut, Paged } from "../http/resources";
import { until } from "../until";
import { expectAccessible } from "./axe";
import { useDashboard } from "./dashboard";
import { saveScreenshots } from "./screenshots";
import { createStudioAsset } from "./studio";

const { open, server, expectFailures } = useDashboard();
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

test("a re-cut takes over the history of the version that it is made from, and of no other one", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.takesCutId}`, user);
  const undo = page.locator(".work-bar").getByTitle(/^Undo: /);
  const recut = async (mode: string) => {
    await page.getByRole("tab", { name: "Script", exact: true }).click();
    await page.getByRole("group", { name: "Mode" }).getByRole("button", { name: mode }).click();
    await button(page, "Re-cut (keeps your edits)").click();
  };
  await button(page, "Save").waitFor();
  await recut("Loose");
  await button(page, "Cut Loose").waitFor();
  await undo.waitFor();

  // After another version is opened in the meantime, undo does not lead into the new cut.
  const held = Promise.withResolvers<void>();
  await page.route("**/api/v1/cuts", async (route) => {
    if (route.request().method() === "POST") await held.promise;
    await route.continue();
  });
  const asked = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/api/v1/cuts"));
  const made = page.waitForResponse((response) => response.request().method() === "POST" && response.status() < 300);
  await recut("Tight");
  await asked;
  const kept = page.url();
  await button(page, "Cut Loose").click();
  await page
    .getByRole("menuitemradio")
    .getByText(/^Natural/)
    .last()
    .click();
  await page.waitForURL((url) => url.href !== kept);
  await button(page, "Cut Loose").waitFor({ state: "detached" });
  held.resolve();
  const { id } = (await (await made).json()) as { id: string };
  await page.waitForURL((url) => url.search.includes(id));
  await page.locator(`[data-cut="${id}"]`).waitFor();
  await until(
    "the re-cut",
    async () => (await user.must<{ state: string }>("GET", `/api/v1/cuts/${id}`)).state === "completed",
  );
  await page.getByRole("group", { name: "Words" }).locator("s").first().waitFor();
  expect(await undo.count()).toBe(0);
});

test("the open cut stays, and is not edited, while it is made again", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.takesCutId}`, user);
  const removed = page.getByRole("group", { name: "Words" }).locator("s");
  await removed.first().waitFor();
  const before = await removed.allTextContents();
  const others = new Set([asset.takesCutId, asset.reviewCutId]);
  let isMaking = true;
  await page.route(/\/api\/v1\/cuts\/[^/]+$/, async (route) => {
    const json = await user.must<Cut>("GET", new URL(route.request().url()).pathname);
    const change = others.has(json.id) || !isMaking ? {} : { state: "processing", plan: null, completed_at: null };
    await route.fulfill({ json: { ...json, ...change } });
  });
  await page.getByRole("tab", { name: "Script", exact: true }).click();
  await page.getByRole("group", { name: "Mode" }).getByRole("button", { name: "Loose" }).click();
  await button(page, "Re-cut (keeps your edits)").click();
  await page.getByText("Cutting again. You can edit the new cut when it opens.").waitFor();
  expect(await removed.allTextContents()).toEqual(before);
  expect(await page.locator(".workspace").getAttribute("data-cut")).toBe(asset.takesCutId);
  for (const name of ["Render", "Export"]) expect([name, await button(page, name).isDisabled()]).toEqual([name, true]);
  expect(await button(page, "Save").count()).toBe(0);
  await button(page, "Play the cut").waitFor();
  await page.keyboard.press("Control+z");
  await page.locator(".feedback").getByText("You can edit when the new cut is ready.").waitFor();
  await expectAccessible(page);
  await saveScreenshots(page);

  // The menu shows the cut that is open, and has no actions that would end or rename the source of the new one.
  await page.getByRole("button", { name: /^Cut / }).click();
  const ticked = page.getByRole("menuitemradio", { checked: true });
  expect(await ticked.count()).toBe(1);
  expect(await ticked.textContent()).not.toContain("Loose");
  for (const name of ["Rename", "Delete cut"]) expect(await page.getByRole("menuitem", { name }).count()).toBe(0);
  await page.keyboard.press("Escape");
  await page.getByRole("tab", { name: "Script", exact: true }).click();
  const compared = page.getByRole("combobox", { name: "Compare with" });
  expect(await compared.locator(`option[value="${asset.takesCutId}"]`).count()).toBe(0);
  // A version that somebody else saves from the open cut is not opened instead of the new one.
  const url = page.url();
  const { plan } = await user.must<Cut>("GET", `/v1/cuts/${asset.takesCutId}`);
  const edit = { segments: plan!.segments.slice(1).map(({ start, end }) => ({ start, end })), name: "By Ben" };
  others.add((await user.must<Cut>("POST", `/v1/cuts/${asset.takesCutId}/edits`, { json: edit })).id);
  await compared.locator("option", { hasText: "By Ben" }).waitFor({ state: "attached" });
  await page.waitForTimeout(1_000);
  expect(page.url()).toBe(url);

  isMaking = false;
  await page.getByText(/^The cut is ready: /).waitFor();
  await button(page, "Cut Loose").waitFor();
  await page
    .locator(".work-bar")
    .getByTitle(/^Undo: Re-cut/)
    .waitFor();
  expect(await button(page, "Render").isDisabled()).toBe(false);
});

test("a re-cut that is cancelled or has failed leaves its source open and editable", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.takesCutId}`, user);
  const made = new Set([asset.takesCutId]);
  let change: object = { state: "processing", plan: null, completed_at: null };
  await page.route(/\/api\/v1\/cuts\/[^/]+$/, async (route) => {
    if (route.request().method() !== "GET") return route.continue();
    const json = await user.must<Cut>("GET", new URL(route.request().url()).pathname);
    await route.fulfill({ json: { ...json, ...(made.has(json.id) ? {} : change) } });
  });
  const recut = async () => {
    const asked = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/v1/cuts"));
    await page.getByRole("tab", { name: "Script", exact: true }).click();
    await page.getByRole("group", { name: "Mode" }).getByRole("button", { name: "Loose" }).click();
    await button(page, "Re-cut (keeps your edits)").click();
    return (await asked).postDataJSON() as { keep_edits_of?: string };
  };
  const expectOpen = async () => {
    await page.waitForURL((url) => url.searchParams.get("cut") === asset.takesCutId);
    await button(page, "Save").waitFor();
    expect(await page.locator(".workspace").getAttribute("data-cut")).toBe(asset.takesCutId);
  };
  const list = () => user.must<Paged<Cut>>("GET", `/v1/cuts?asset_id=${asset.id}`);
  const note = page.getByText("Cutting again. You can edit the new cut when it opens.");
  await button(page, "Save").waitFor();

  // A cut that somebody else makes is awaited too, but it is not a re-cut that can be cancelled here.
  const choose = async (name: RegExp) => {
    await page.getByRole("button", { name: /^Cut / }).click();
    await page.getByRole("menuitemradio", { name }).click();
  };
  await choose(/^Natural(?! 2)/);
  await page.getByText("Creating the cut…").waitFor();
  expect([await note.count(), await button(page, "Cancel").count()]).toEqual([0, 0]);
  await choose(/^Natural 2/);
  await expectOpen();
  made.add(asset.reviewCutId);

  // A card of the review stays open.
  await page.getByRole("button", { name: /^Review \d+$/ }).click();
  const card = page.getByRole("region", { name: "Place to review" });
  await card.waitFor();
  await recut();
  await note.waitFor();
  await page.getByRole("tab", { name: /^Review/ }).click();
  await card.waitFor();
  const keep = card.getByRole("button", { name: /^Keep/ });
  expect(await keep.count()).toBe(0);
  await button(page, "Cancel").click();
  await expectOpen();
  await keep.waitFor();
  await until("the end of the re-cut", async () => (await list()).items.length === 2);

  await recut();
  await note.waitFor();
  change = { state: "failed", plan: null, error_code: "internal_error", error_message: "The server was restarted." };
  await page.getByRole("alert").getByText("The server was restarted.").waitFor();
  await expectOpen();
  // Edits are stored, and the next re-cut keeps them.
  const stored = page.waitForResponse((response) => response.url().endsWith("/draft") && response.ok());
  await page.getByRole("group", { name: "Words" }).focus();
  for (const key of ["Home", "Control+ArrowRight", "Delete"]) await page.keyboard.press(key);
  await stored;
  change = {};
  const saved = page.waitForResponse((response) => response.url().endsWith("/edits") && response.ok());
  const { keep_edits_of: kept } = await recut();
  expect(kept).toBe(((await (await saved).json()) as Cut).id);
  await button(page, "Cut Loose 2").waitFor();
  expect(await page.getByText("The server was restarted.").count()).toBe(0);
});

test("mode and script are entered while a recording is prepared, and the cut exists on the next visit", async () => {
  const user = await server().user();
  const analysis = server().speech.hold("analyze");
  const id = await user.upload(await wav(4), { filename: "Interview.wav" });
  await analysis.reached;
  const page = await open("/projects", user);
  // The waveform is ready after the playback.
  let isFirst = true;
  await page.route("**/media", async (route) => {
    const media = await user.must<object>("GET", `/api/v1/assets/${id}/media`);
    await route.fulfill({ json: { ...media, ...(isFirst && { has_waveform: false }) } });
    isFirst = false;
  });
  const waveform = page.waitForResponse((response) => response.url().endsWith("/waveform") && response.ok());
  await page.goto(new URL(`/assets/${id}`, page.url()).href);
  const planned = page.getByRole("region", { name: "Cut after upload" });
  await planned.getByRole("button", { name: "Tight" }).click();
  await page.getByRole("tab", { name: "Renders" }).click();
  expect(await button(page, "Render…").isDisabled()).toBe(true);
  await page.getByRole("tab", { name: "Script", exact: true }).click();
  expect(await planned.getByRole("button", { name: "Tight" }).getAttribute("aria-pressed")).toBe("true");
  const script = planned.getByRole("textbox", { name: "Script" });
  await script.fill("alpha bravo");
  await page.getByRole("progressbar", { name: "Preparation" }).waitFor();
  await page.getByText(/^Transcribing, /).waitFor();
  // The recording plays, and its waveform is shown.
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
  await until("the playback", () => page.evaluate(() => document.querySelector("video")!.currentTime > 0));
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await waveform;
  await expectAccessible(page);
  await saveScreenshots(page);
  // The browser keeps the script while no planned cut has it.
  const save = planned.getByRole("button", { name: "Save" });
  const isKept = () => page.evaluate(() => Object.keys(localStorage).some((key) => key.startsWith("offcut.script.")));
  const willCut = page.getByText("The recording will be cut as soon as it is ready.");
  expect(await isKept()).toBe(true);
  await save.click();
  await willCut.waitFor();
  await until("no script in the browser", async () => !(await isKept()));
  await planned.getByRole("button", { name: "Do not cut" }).click();
  await save.click();
  await page.getByText("The recording will not be cut.").waitFor();
  await until("the script in the browser", isKept);
  await planned.getByRole("button", { name: "Tight" }).click();
  await save.click();
  await willCut.last().waitFor();
  await until("no script in the browser", async () => !(await isKept()));
  const PARTS = [".work-bar", ".headline", ".picture", ".transport", ".tabs", ".tab-panel", ".timeline-panel"];
  const places = () => Promise.all(PARTS.map((part) => page.locator(part).filter({ visible: true }).boundingBox()));
  const before = await places();
  await script.focus();
  analysis.release();
  // Writing the script continues, and nothing has moved.
  await page.getByRole("button", { name: "Play the cut" }).waitFor();
  expect(await page.locator("textarea:focus").inputValue()).toBe("alpha bravo");
  expect(await places()).toEqual(before);
  await page.getByRole("tab", { name: "Transcript" }).click();
  await page.getByRole("group", { name: "Words" }).waitFor();
  const { items } = await user.must<Paged<Cut>>("GET", `/v1/cuts?asset_id=${id}`);
  expect(items.map(({ script, options }) => [script, options.mode])).toEqual([["alpha bravo", "tight"]]);
});

test("a recording is uploaded again in another language from its page", async () => {
  const user = await server().user();
  const { id } = await createStudioAsset(user, "Interview.wav");
  const page = await open(`/assets/${id}`, user);
  const status = await user.must<object>("GET", "/api/v1/status");
  await page.route("**/api/v1/status", (route) => route.fulfill({ json: { ...status, languages: ["de", "en"] } }));
  await page.reload();
  await page.getByRole("tab", { name: "Script", exact: true }).click();
  await button(page, "Upload again in another language").click();
  const menu = (await page.getByRole("menu").boundingBox())!;
  const panel = (await page.locator(".tab-panel.of-script").boundingBox())!;
  expect([menu.x >= panel.x, menu.x + menu.width <= panel.x + panel.width]).toEqual([true, true]);
  await saveScreenshots(page);
  const chosen = page.waitForEvent("filechooser");
  await page.getByRole("menuitem", { name: "German" }).click();
  await (await chosen).setFiles({ name: "Interview.wav", mimeType: "audio/wav", buffer: Buffer.from(await wav(3)) });
  const { project_id: projectId } = await user.asset(id);
  await until("the recording in German", async () => {
    const { items } = await user.must<Paged<{ id: string; language: string | null }>>(
      "GET",
      `/v1/assets?project_id=${projectId}`,
    );
    return items.some((one) => one.id !== id && one.language === "de");
  });
});

test("a recording that turns out to be without words shows its transcript, and one that is deleted in the meantime disappears", async () => {
  const user = await server().user();
  const analysis = server().speech.hold("analyze");
  const id = await user.upload(await quiet(4), { filename: "Room.wav" });
  await analysis.reached;
  const page = await open(`/assets/${id}`, user);
  const tab = (name: string) => page.getByRole("tab", { name, exact: true, selected: true });
  await tab("Script").waitFor();
  analysis.release();
  await tab("Transcript").waitFor();
  await page.getByText("The recording is ready.").waitFor();

  // A mode that was chosen and not saved cuts nothing, which is said.
  const again = server().speech.hold("analyze");
  const spoken = await user.upload(await wav(4), { filename: "Talk.wav" });
  await again.reached;
  await page.goto(new URL(`/assets/${spoken}`, page.url()).href);
  const tight = page.getByRole("group", { name: "Mode" }).getByRole("button", { name: "Tight" });
  const loose = page.getByRole("group", { name: "Mode" }).getByRole("button", { name: "Loose" });
  const pressed = (button: Locator) =>
    until("the mode", async () => (await button.getAttribute("aria-pressed")) === "true");
  const path = /\/cut-after-upload$/;
  const switchTabs = async () => {
    await page.getByRole("tab", { name: "Renders" }).click();
    const read = page.waitForResponse(path);
    await page.getByRole("tab", { name: "Script", exact: true }).click();
    await read;
  };
  const plan = (mode: string | null) =>
    user.must("PUT", `/api/v1/assets/${spoken}/cut-after-upload`, { json: { mode, script: "" } });
  // A mode that another user saves is shown, unless a mode was chosen here.
  await plan("loose");
  await switchTabs();
  await pressed(loose);
  await plan(null);
  await switchTabs();
  await pressed(page.getByRole("button", { name: "Do not cut" }));
  await tight.click();
  await plan("loose");
  await switchTabs();
  await pressed(tight);
  await plan(null);
  await switchTabs();
  await pressed(tight);
  // A mode that could not be saved is not.
  expectFailures(409, 0, 404);
  const refused = { status: 409, json: { code: "conflict", detail: "The storage is full." } };
  await page.route(path, (route) => (route.request().method() === "PUT" ? route.fulfill(refused) : route.continue()));
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("The storage is full.").waitFor();
  again.release();
  await page.getByText("Transcribed. The mode was not saved: press “Make cut”.").waitFor();
  expect(await tight.getAttribute("aria-pressed")).toBe("true");

  await page.unroute(path);
  await page.route(/\/pieces\//, (route) => route.abort());
  const held = server().speech.hold("analyze");
  const deleted = await user.upload(await wav(4), { filename: "Interview.wav" });
  await held.reached;
  await page.goto(new URL(`/assets/${deleted}`, page.url()).href);
  await tab("Script").waitFor();
  await user.must("DELETE", `/v1/assets/${deleted}`);
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  held.release();
});
