/** A real browser: uploads on the page of a project that pause, and that continue after a reload. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import type { Page, Route } from "playwright-core";
import { startSession } from "../http/accounts";
import { wav } from "../http/media";
import type { Cut, Paged } from "../http/resources";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { readZip } from "../zip";
import { expectAccessible } from "./axe";
import { drop, useDashboard } from "./dashboard";
import { saveScreenshots } from "./screenshots";

const { expectFailures, open, server } = useDashboard();

/** Slow enough to pause in the middle of a file. */
const UPLOAD_BYTES_PER_SECOND = 400_000;

/** Limits the speed of uploads. Returns a function that ends the limit. */
async function limitSpeed(page: Page): Promise<() => Promise<unknown>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  const emulate = (uploadThroughput: number) =>
    session.send("Network.emulateNetworkConditions", {
      ...{ offline: false, latency: 0, downloadThroughput: -1 },
      uploadThroughput,
    });
  await emulate(UPLOAD_BYTES_PER_SECOND);
  return () => emulate(-1);
}

test("uploads pause, and continue after a reload when the file is chosen again", async () => {
  await using folder = await temporaryFolder();
  const paths = ["one.wav", "two.wav"].map((name) => join(folder.path, name));
  await Bun.write(paths[0]!, await wav(60));
  await Bun.write(paths[1]!, await wav(2));
  const user = await server().user();
  const { id } = await user.project();
  const page = await open(`/projects/${id}`, user);
  const endLimit = await limitSpeed(page);
  await page.getByLabel("Upload files").setInputFiles(paths);
  const row = page.getByRole("region", { name: "Uploads" }).getByRole("listitem");
  const sent = () =>
    row
      .first()
      .getByRole("progressbar")
      .evaluate((bar: HTMLProgressElement) => bar.value);
  await until("a part", async () => (await sent()) > 100_000);
  await page.getByRole("button", { name: "Pause one.wav" }).click();
  await row.first().getByText("Paused").waitFor();
  await page.getByText("Upload paused", { exact: true }).waitFor();
  await row.last().getByText("Uploaded").waitFor();

  await endLimit();
  await page.reload();
  await page.getByText("Choose the file again to continue").waitFor();
  const started = page.waitForResponse((response) => response.request().method() === "HEAD");
  await page.getByLabel("Upload files").setInputFiles(paths[0]!);
  expect(Number((await started).headers()["upload-offset"])).toBeGreaterThan(0);
  const recording = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "one.wav" }) });
  await recording.getByText("No cut yet").waitFor();
  expect(await page.getByRole("link", { name: "one.wav" }).count()).toBe(1);
});

test("an upload continues in its workspace while another one is chosen, and while the lists are read again", async () => {
  // A list that is being read while the session ends.
  expectFailures(401);
  await using folder = await temporaryFolder();
  const path = join(folder.path, "one.wav");
  await Bun.write(path, await wav(60));
  const user = await server().user();
  const { id } = await user.project();
  await (await startSession(server(), user)).must("POST", "/api/v1/workspaces", { json: { name: "Studio" } });
  const page = await open(`/projects/${id}`, user);
  const endLimit = await limitSpeed(page);
  await page.getByLabel("Upload files").setInputFiles(path);
  await page.getByRole("region", { name: "Uploads" }).getByText(/^\d+%/).waitFor();
  await page.getByRole("combobox", { name: "Workspace" }).selectOption({ label: "Studio" });
  await page.getByRole("heading", { level: 1, name: "Projects" }).waitFor();
  await page.getByRole("combobox", { name: "Workspace" }).selectOption({ label: "Personal" });
  await page.getByRole("link", { name: "Project", exact: true }).click();
  // A tab that was frozen reads everything again.
  await page.evaluate(() => document.dispatchEvent(new Event("resume")));
  await endLimit();
  await page
    .getByRole("region", { name: "Uploads" })
    .getByText("Uploaded", { exact: true })
    .waitFor({ timeout: 40_000 });
  const { items } = await user.must<{ items: { filename: string }[] }>("GET", `/api/v1/assets?project_id=${id}`);
  expect(items.map(({ filename }) => filename)).toEqual(["one.wav"]);

  // It ends with the session.
  await limitSpeed(page);
  await Bun.write(path, await wav(61));
  await page.getByLabel("Upload files").setInputFiles(path);
  await page.getByRole("region", { name: "Uploads" }).getByText(/^\d+%/).waitFor();
  const ended = page.waitForEvent("requestfailed", (request) => request.method() === "PATCH");
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await ended;
});

test("the recordings of a folder are dropped on the page, and survive a lost network", async () => {
  expectFailures(0, 404);
  await using folder = await temporaryFolder();
  const shoot = join(folder.path, "shoot");
  await Bun.write(join(shoot, "one.wav"), await wav(4));
  await Bun.write(join(shoot, "second day", "two.wav"), await wav(2));
  await Bun.write(join(shoot, "second day", ".hidden.wav"), await wav(2));
  await Bun.write(join(shoot, "empty.wav"), "");
  // The script of another folder.
  await Bun.write(join(shoot, "second day", "one.txt"), "alpha");
  const user = await server().user();
  const { id } = await user.project();
  const page = await open(`/projects/${id}`, user);
  let isLost = true;
  await page.route(/\/uploads\//, (route) => (isLost ? route.abort("connectionreset") : route.continue()));
  await page.getByText("Drop recordings here").waitFor();
  await drop(page, [shoot]);
  const rows = page.getByRole("region", { name: "Uploads" }).getByRole("listitem");
  await rows.filter({ hasText: "one.wav" }).getByText("Connection lost, trying again").waitFor();
  await rows.filter({ hasText: "empty.wav" }).getByText("Empty or damaged.").waitFor();
  await page.getByText("“one.txt” not used: no recording in its folder has the same name").waitFor();
  isLost = false;
  for (const name of ["one.wav", "two.wav"])
    await rows.filter({ hasText: name }).getByText("Uploaded").waitFor({ timeout: 40_000 });
  const { items } = await user.must<{ items: { id: string; filename: string }[] }>(
    "GET",
    `/api/v1/assets?project_id=${id}`,
  );
  expect(items.map(({ filename }) => filename).toSorted()).toEqual(["one.wav", "two.wav"]);

  // Somebody else deletes one of those that are to be deleted.
  for (const name of ["one.wav", "two.wav"]) await page.getByLabel(`Select ${name}`).check();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await user.must("DELETE", `/api/v1/assets/${items[0]!.id}`);
  await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByText("Drop recordings here").waitFor();
});

test("a recording that is dropped on another page gets a project and a cut with its script, other files are refused", async () => {
  expectFailures(0, 503);
  await using folder = await temporaryFolder();
  await Bun.write(join(folder.path, "Interview 3.wav"), await wav(2));
  for (const name of ["interview 3.txt", "notes.txt", "photo.png"]) await Bun.write(join(folder.path, name), "alpha");
  const user = await server().user();
  const page = await open("/projects", user);
  await page.getByText("Drop a recording, get a cut").waitFor();
  // The first calls for the script meet a lost connection and a busy server.
  const hiccups: ((route: Route) => Promise<void>)[] = [
    (route) => route.abort("connectionreset"),
    (route) => route.fulfill({ status: 503, json: { detail: "The server is busy.", code: "unavailable" } }),
  ];
  const analysis = server().speech.hold("analyze");
  const planned = page.waitForResponse((response) => response.request().method() === "PUT" && response.ok());
  await page.route(/\/cut-after-upload$/, (route) => (hiccups.shift() ?? ((other) => other.continue()))(route));
  await drop(
    page,
    ["Interview 3.wav", "interview 3.txt", "notes.txt", "photo.png"].map((name) => join(folder.path, name)),
  );
  await page.getByRole("heading", { name: "Interview 3", level: 1 }).waitFor();
  await page.getByRole("alert").getByText("Not video or audio.").waitFor();
  const rows = page.getByRole("region", { name: "Uploads" }).getByRole("listitem");
  await rows.filter({ hasText: "Interview 3.wav" }).getByText("Uploaded").waitFor();
  expect(await rows.count()).toBe(2);
  await page.getByRole("button", { name: "Close photo.png" }).click();
  await page.getByText("“notes.txt” not used: no recording in its folder has the same name").waitFor();
  await planned;
  analysis.release();
  const cut = await until("the cut after the upload", async () => {
    const { items } = await user.must<Paged<Cut>>("GET", "/v1/cuts");
    return items[0]?.completed_at ? items : null;
  });
  expect(cut.map(({ script, options }) => [script, options.mode])).toEqual([["alpha", "natural"]]);
  await page.getByRole("button", { name: "Actions for Interview 3", exact: true }).click();
  await page.getByRole("menuitem", { name: "Cut after upload…" }).click();
  const dialog = page.getByRole("dialog", { name: "Cut after upload" });
  await dialog.getByLabel("Language").getByRole("option", { name: "English" }).waitFor({ state: "attached" });
  await expectAccessible(page);
  await saveScreenshots(page);
  expect(await dialog.getByLabel("Mode").inputValue()).toBe("natural");
  await dialog.getByLabel("Mode").selectOption("off");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const { items } = await user.must<Paged<{ cut_after_upload: object | null }>>("GET", "/api/v1/projects");
  expect(items.map((project) => project.cut_after_upload)).toEqual([null]);

  // A project that does not cut keeps the script for the recording's Script tab; one that is not a text is refused.
  await Bun.write(join(folder.path, "Second.wav"), await wav(2));
  await Bun.write(join(folder.path, "Third.wav"), await wav(2));
  await Bun.write(join(folder.path, "second.txt"), "bravo");
  await Bun.write(join(folder.path, "third.txt"), new Uint8Array([65, 0, 66]));
  const paths = ["Second.wav", "second.txt", "Third.wav", "third.txt"].map((name) => join(folder.path, name));
  await page.getByLabel("Upload files").setInputFiles(paths);
  await page.getByText("“third.txt” was not used as a script. The file is not a text file.").waitFor();
  await page.getByText("“second.txt” is in the Script tab of its recording.").waitFor();
  const stored = await page.evaluate(() => Object.entries(localStorage));
  const script = stored.find(([key]) => key.startsWith("offcut.script."))?.[1];
  expect(JSON.parse(script ?? "{}").value).toBe("bravo");
  expect((await user.must<Paged<Cut>>("GET", "/v1/cuts")).items).toHaveLength(1);
});

test("a refused upload shows advice, and a cancelled one disappears", async () => {
  expectFailures(402);
  const user = await server().user();
  const { id } = await user.project();
  const page = await open(`/projects/${id}`, user);
  await page.route("**/api/v1/assets/upload-resumable", (route) =>
    route.fulfill({ status: 402, json: { detail: "No credits are left.", code: "insufficient_credits" } }),
  );
  const file = { name: "one.wav", mimeType: "audio/wav", buffer: Buffer.from(await wav(2)) };
  await page.getByLabel("Upload files").setInputFiles(file);
  await page.getByRole("alert").getByText("No credits are left.").waitFor();
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await page.getByRole("button", { name: "Cancel one.wav" }).click();
  await page.getByRole("region", { name: "Uploads" }).waitFor({ state: "detached" });
});

test("a file that exceeds the quota shows that, and one that is too small is not tried again", async () => {
  expectFailures(400, 409);
  const user = await server().user();
  const { id } = await user.project();
  await server()
    .services()
    .store.write((tx) => tx.run(sql`UPDATE workspaces SET storage_quota_bytes = 1000 WHERE id = ${user.userId}`));
  const page = await open(`/projects/${id}`, user);
  const add = (name: string, bytes: number) =>
    page.getByLabel("Upload files").setInputFiles({ name, mimeType: "audio/wav", buffer: Buffer.alloc(bytes) });
  const row = (name: string) =>
    page.getByRole("region", { name: "Uploads" }).getByRole("listitem").filter({ hasText: name });
  const again = (name: string) => row(name).getByRole("button", { name: "Try again" });
  await add("large.wav", 5000);
  await row("large.wav").getByRole("alert").getByText("Storage quota reached").waitFor();
  expect(await row("large.wav").textContent()).toContain("Delete recordings or renders.");
  expect(await again("large.wav").count()).toBe(1);
  await add("small.wav", 5);
  await row("small.wav").getByRole("alert").getByText("This file is empty or damaged.").waitFor();
  expect(await again("small.wav").count()).toBe(0);
});

test("recordings are filtered, selected and changed together, and failures are named", async () => {
  expectFailures(409, 429);
  const user = await server().user();
  const { id } = await user.project("Winter");
  const names = ["alpha", "bravo", "charlie", "delta"];
  for (const name of names) await user.ready(await wav(2), { projectId: id, filename: `${name}.wav` });
  const { items } = await user.must<{ items: { id: string }[] }>("GET", `/api/v1/assets?project_id=${id}`);
  await user.must("PATCH", `/api/v1/assets/${items[0]!.id}`, { json: { tags: ["Harbor"], name: "Delta, wide" } });
  const { id: cutId } = await user.startCut({ asset_id: items[1]!.id });
  await user.cutEnded(cutId);
  const page = await open(`/projects/${id}`, user);
  const card = (name: string) => page.getByRole("listitem").filter({ has: page.getByRole("link", { name }) });
  const bar = page.getByRole("toolbar", { name: "Selected recordings" });
  const row = (label: string) =>
    page.getByRole("region", { name: "Uploads" }).getByRole("listitem").filter({ hasText: label });
  await page.getByText("4 recordings · 0:08").waitFor();
  await page.getByLabel("Tag").selectOption("Harbor");
  await card("alpha").waitFor({ state: "detached" });
  await page.reload();
  await card("Delta, wide").waitFor();
  expect(await page.locator(".recording").count()).toBe(1);
  await page.getByLabel("Tag").selectOption({ label: "Any tag" });
  await card("alpha").waitFor();

  // From the first to the third one, without the second, by pointer and keys.
  await page.getByLabel("Select Delta, wide").check();
  await page.getByLabel("Select bravo.wav").click({ modifiers: ["Shift"] });
  await bar.getByText("3 selected").waitFor();
  expect(await page.getByLabel("Select bravo.wav").isChecked()).toBe(true);
  await page.getByRole("link", { name: "charlie.wav" }).click({ modifiers: ["ControlOrMeta"] });
  await bar.getByText("2 selected").waitFor();
  await page.keyboard.press("Escape");
  await bar.waitFor({ state: "detached" });
  // The menu of a card takes Space itself.
  await page.getByRole("button", { name: "Actions for alpha.wav" }).focus();
  await page.keyboard.press("Space");
  await page.getByRole("menu", { name: "Actions for alpha.wav" }).waitFor();
  await page.keyboard.press("Escape");
  expect(await bar.count()).toBe(0);
  await page.getByRole("link", { name: "alpha.wav" }).focus();
  await page.keyboard.press("Space");
  await bar.getByText("1 selected").waitFor();
  await page.keyboard.press("ControlOrMeta+a");
  await bar.getByText("4 selected").waitFor();
  await bar.getByRole("button", { name: "Make cut" }).click();
  // The server asks one call to wait.
  let isBusy = true;
  const sent: { workspaceId: string | undefined; keep_edits_of?: string; script?: string }[] = [];
  await page.route("**/api/v1/cuts", (route) => {
    const isRefused = isBusy;
    const { "offcut-workspace": workspaceId } = route.request().headers();
    if (!isRefused) sent.push({ workspaceId, ...route.request().postDataJSON() });
    isBusy = false;
    const reply = {
      status: 429,
      headers: { "Retry-After": "1" },
      json: { detail: "Slow down.", code: "rate_limited" },
    };
    return isRefused ? route.fulfill(reply) : route.continue();
  });
  await page.getByRole("dialog").getByLabel("Mode").selectOption("tight");
  await page.getByRole("dialog").getByRole("button", { name: "Make cut" }).click();
  await bar.waitFor({ state: "detached" });
  await page.locator("h1:focus").waitFor();
  await row("Make cut").getByText("Done: 4").waitFor();
  // Edits of the existing cut are kept, and opening another workspace in the meantime has no effect.
  expect(sent.filter(({ keep_edits_of: kept }) => kept === cutId).map(({ script }) => script)).toEqual([""]);
  expect(sent.every(({ workspaceId }) => workspaceId !== undefined)).toBe(true);
  const uncut = page.getByText(/^(No cut yet|In line for a cut|Cutting)/);
  await until("the cuts", async () => (await uncut.count()) === 0);

  await page.keyboard.press("ControlOrMeta+a");
  await bar.getByRole("button", { name: "Export" }).click();
  const download = page.waitForEvent("download");
  await page.getByRole("dialog").getByRole("button", { name: "Export" }).click();
  await using folder = await temporaryFolder();
  const path = join(folder.path, "export.zip");
  await (await download).saveAs(path);
  const { entries } = await readZip(path);
  expect(entries.filter(({ fileName }) => fileName.endsWith(".fcpxml")).length).toBe(4);
  expect(new Set(entries.map(({ fileName }) => fileName.split("/")[0]))).toEqual(
    new Set(["Delta, wide", "alpha", "bravo", "charlie"]),
  );
  await row("Export").getByText("Done: 4").waitFor();

  // One of those that are moved is refused.
  await page.route(`**/api/v1/assets/${items[1]!.id}`, (route) =>
    route.fulfill({ status: 409, json: { detail: "Recording is busy.", code: "conflict" } }),
  );
  await page.keyboard.press("ControlOrMeta+a");
  await bar.getByRole("button", { name: "Move" }).click();
  const chooser = page.getByRole("dialog");
  // Neither the project that they are in nor another one with its name is offered.
  await chooser.getByRole("searchbox").fill("Winter");
  await chooser.getByText("No matching projects.").waitFor();
  expect(await chooser.getByRole("button", { name: /^New project/ }).count()).toBe(0);
  await chooser.getByRole("searchbox").fill("Spring");
  await chooser.getByRole("button", { name: "New project “Spring”" }).click();
  await row("Move to Spring").getByText("3 of 4 done · 1 problem").waitFor();
  await row("Move to Spring").getByText("charlie.wav: Recording is busy.").waitFor();
  await card("alpha").waitFor({ state: "detached" });
  expect(await page.locator(".recording").count()).toBe(1);
  const created = await user.must<{ items: { id: string }[] }>("GET", "/api/v1/projects?q=Spring");
  const moved = await user.must<{ items: object[] }>("GET", `/api/v1/assets?project_id=${created.items[0]!.id}`);
  expect(moved.items.length).toBe(3);
});
