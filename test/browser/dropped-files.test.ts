/** A real browser: files that are dropped outside of the page of a project. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { startSession } from "../http/accounts";
import { wav } from "../http/media";
import type { Paged } from "../http/resources";
import { createWorkspace } from "../http/workspace-calls";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { expectAccessible } from "./axe";
import { drop, useDashboard } from "./dashboard";
import { saveScreenshots } from "./screenshots";

const { open, server } = useDashboard();

test("recordings that are dropped outside of a project are added to a chosen one, or to that of the open recording", async () => {
  await using folder = await temporaryFolder();
  const user = await server().user();
  const talks = await user.project("Talks");
  const one = await wav(2);
  const asset = await user.ready(one, { projectId: talks.id, filename: "one.wav" });
  await Bun.write(join(folder.path, "one.wav"), one);
  for (const name of ["two.wav", "three.wav", "four.wav", "five.wav"])
    await Bun.write(join(folder.path, name), await wav(3));
  const copies = Array.from({ length: 150 }, (_, n) => `copy ${n}.wav`);
  for (const name of copies) await Bun.write(join(folder.path, name), one);
  const page = await open("/jobs", user);
  const dropOn = (...names: string[]) =>
    drop(
      page,
      names.map((name) => join(folder.path, name)),
    );
  const dialog = page.getByRole("dialog", { name: "Add 1 recording to a project" });
  const row = (name: string) =>
    page.getByRole("region", { name: "Uploads" }).getByRole("listitem").filter({ hasText: name });

  await dropOn("one.wav");
  await dialog.getByRole("button", { name: "New project “one”" }).waitFor();
  await expectAccessible(page);
  await saveScreenshots(page);
  await dialog.getByRole("button", { name: "Talks" }).click();
  // It is there already.
  const again = page.getByRole("dialog", { name: "Upload again?" });
  await again.waitFor();
  // These files wait for the first one.
  await dropOn("two.wav");
  await again.getByRole("button", { name: "Close" }).click();
  await dialog.getByRole("button", { name: "New project “two”" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/jobs");
  await dialog.getByRole("button", { name: "Talks" }).click();
  await page.getByRole("heading", { level: 1, name: "Talks" }).waitFor();
  await row("two.wav").getByText("Uploaded").waitFor();

  await page.getByRole("link", { name: "Jobs" }).click();
  await page.getByRole("heading", { level: 1, name: "Jobs" }).waitFor();
  // After the dialog is closed, nothing is uploaded to the project that was chosen.
  const held = Promise.withResolvers<void>();
  const searches = /\/api\/v1\/assets\?/;
  await page.route(searches, (route) => held.promise.then(() => route.continue()).catch(() => {}));
  await dropOn("three.wav");
  await dialog.getByRole("button", { name: "Talks" }).click();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  held.resolve();
  await page.unroute(searches);
  await dropOn("one.wav", ...copies);
  await page
    .getByRole("dialog", { name: "Add 151 recordings to a project" })
    .getByRole("button", { name: "Talks" })
    .click();
  await again.getByText("same name and size: one.wav.").waitFor();
  await again.getByRole("button", { name: "Close" }).click();
  await again.waitFor({ state: "detached" });
  await dropOn("three.wav");
  await dialog.getByRole("button", { name: "New project “three”" }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "three" }).waitFor();

  await page.getByRole("link", { name: "Projects" }).first().click();
  const tile = page.getByRole("button", { name: "They become a new project" });
  await tile.waitFor();
  await drop(page, [join(folder.path, "five.wav")], tile);
  await page.getByRole("heading", { level: 1, name: "five" }).waitFor();

  await page.goto(new URL(`/assets/${asset.id}`, page.url()).href);
  await page.getByRole("tab", { name: "Script", exact: true }).waitFor();
  await dropOn("four.wav");
  await page.getByText("Uploading 1 recording to “Talks”.").waitFor();
  await row("four.wav").getByText("Uploaded").waitFor();
  const { items } = await user.must<Paged<{ filename: string }>>("GET", `/api/v1/assets?project_id=${talks.id}`);
  expect(items.map(({ filename }) => filename).toSorted()).toEqual(["four.wav", "one.wav", "two.wav"]);
});

test("dropped files are shown at once, can be canceled, and stay in their workspace", async () => {
  await using folder = await temporaryFolder();
  const one = join(folder.path, "one.wav");
  await Bun.write(one, await wav(2));
  const user = await server().user();
  const talks = await user.project("Talks");
  const studio = await createWorkspace(await startSession(server(), user), "Studio Nord");
  const page = await open("/jobs", user);
  const row = page
    .getByRole("region", { name: "Uploads" })
    .getByRole("listitem")
    .filter({ hasText: "Checking 1 file…" });
  const dialog = page.getByRole("dialog", { name: /Add 1 recording/ });
  let held = Promise.withResolvers<void>();
  await page.route(/\/uploads\/limits/, (route) => held.promise.then(() => route.continue()).catch(() => {}));

  await drop(page, [one]);
  await row.getByText("Nothing has been uploaded yet").waitFor();
  await expectAccessible(page);
  await row.getByRole("button", { name: "Stop" }).click();
  await row.waitFor({ state: "detached" });
  held.resolve();
  held = Promise.withResolvers<void>();

  await drop(page, [one]);
  await row.waitFor();
  const chosen = page.getByLabel("Workspace", { exact: true });
  await chosen.selectOption("Studio Nord");
  await page.getByRole("heading", { level: 1, name: "Projects" }).or(page.locator("#first-minute")).waitFor();
  expect(await dialog.count()).toBe(0);
  held.resolve();
  await dialog.getByRole("heading", { name: "Add 1 recording to a project in Personal" }).waitFor();
  await row.waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Talks" }).click();
  await page.getByText("Uploading 1 recording to “Talks”.").waitFor();
  await until("the recording, uploaded", async () => {
    const { items } = await user.must<Paged<{ state: string }>>("GET", `/api/v1/assets?project_id=${talks.id}`);
    return items.length === 1 && items[0]!.state !== "pending_upload";
  });
  expect(await chosen.inputValue()).toBe(studio.id);
});

test("a text file dropped on a recording's page becomes its script, and Undo restores the previous one", async () => {
  await using folder = await temporaryFolder();
  await Bun.write(join(folder.path, "first.txt"), "alpha bravo");
  await Bun.write(join(folder.path, "second.md"), "charlie");
  await Bun.write(join(folder.path, "broken.srt"), new Uint8Array([65, 0, 66]));
  const user = await server().user();
  const { id } = await user.ready(await wav(3));
  await user.cutEnded((await user.startCut({ asset_id: id })).id);
  const page = await open(`/assets/${id}`, user);
  await page.getByRole("tab", { name: "Transcript", selected: true }).waitFor();
  const script = page.getByRole("textbox", { name: "Script" });
  const has = (text: string) => until(`the script "${text}"`, async () => (await script.inputValue()) === text);
  const undo = page.getByRole("button", { name: "Undo", exact: true }).last();
  const countKept = () =>
    page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("offcut.script.")).length);
  await drop(page, [join(folder.path, "first.txt")]);
  await has("alpha bravo");
  expect(await countKept()).toBe(1);
  // The script of the cut is not kept as the user's own.
  await undo.click();
  await has("");
  expect(await countKept()).toBe(0);
  await drop(page, [join(folder.path, "first.txt")]);
  await has("alpha bravo");
  await page.getByRole("tab", { name: "Transcript" }).click();
  await drop(page, [join(folder.path, "second.md")]);
  await has("charlie");
  await undo.click();
  await has("alpha bravo");
  // The page behind a dialog stays as it is.
  await page.getByRole("tab", { name: "Transcript" }).click();
  await page.keyboard.press("?");
  await page.locator("dialog:modal").waitFor();
  await drop(page, [join(folder.path, "second.md")]);
  await page.keyboard.press("Escape");
  await page.locator("dialog:modal").waitFor({ state: "detached" });
  await drop(page, [join(folder.path, "broken.srt")]);
  await page.getByText("The file is not a text file.").waitFor();
  await page.getByRole("tab", { name: "Transcript", selected: true }).waitFor();
  await page.getByRole("tab", { name: "Script", exact: true }).click();
  await has("alpha bravo");
});

test("a new project is offered only when the search finds none with that name", async () => {
  await using folder = await temporaryFolder();
  const user = await server().user();
  // More projects contain the name than are shown, and the one that has it is the oldest.
  for (const name of ["Autumn", ...Array.from({ length: 21 }, (_, n) => `Autumn ${n}`)]) await user.project(name);
  await Bun.write(join(folder.path, "one.wav"), await wav(2));
  const page = await open("/jobs", user);
  await drop(page, [join(folder.path, "one.wav")]);
  const dialog = page.getByRole("dialog", { name: "Add 1 recording to a project" });
  const create = (name: string) => dialog.getByRole("button", { name: `New project “${name}”` });
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route(/\/api\/v1\/projects\?.*q=Autumn/, async (route) => {
    asked.resolve();
    await held.promise;
    await route.continue();
  });
  await dialog.getByRole("searchbox").fill("Autumn ");
  await asked.promise;
  expect(await create("Autumn").count()).toBe(0);
  held.resolve();
  const first = dialog.getByRole("listitem").first();
  await first.getByRole("button", { name: "Autumn", exact: true }).waitFor();
  expect(await create("Autumn").count()).toBe(0);
  await dialog.getByRole("searchbox").fill("Winter");
  await create("Winter").click();
  await page.getByRole("heading", { level: 1, name: "Winter" }).waitFor();
});
