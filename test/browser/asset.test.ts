/** The page of a recording in a real browser: its states, and the way from a script to an edited cut. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { newId } from "../../src/lib/ids";
import type { Client } from "../http/client";
import { video, wav } from "../http/media";
import { until } from "../until";
import { useDashboard } from "./dashboard";
import { createStudioAsset } from "./studio";

const dashboard = useDashboard();
const { open, server } = dashboard;

const region = (page: Page) => page.getByRole("region", { name: "Transcript" });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const struck = (page: Page) => page.getByRole("group", { name: "Words" }).locator("s").allTextContents();
const feedback = (page: Page, text: string | RegExp) => page.locator(".feedback").getByText(text).waitFor();
const announced = (page: Page, text: string) => page.getByRole("status").getByText(text).waitFor();

test.each<[string, (user: Client) => Promise<string>, string]>([
  ["that is uploaded", async (user) => (await user.open(1000)).id, "The upload is not finished."],
  [
    "that is no recording",
    async (user) => (await user.prepared(await user.upload(Buffer.alloc(5000, 7)))).id,
    "upload it",
  ],
])("a recording %s says what to do", async (_, make, text) => {
  const user = await dashboard.server().user(100);
  const id = await make(user);
  const { project_id: projectId } = await user.asset(id);
  await user.must("PATCH", `/api/v1/projects/${projectId}`, { json: { name: "Interviews" } });
  const page = await dashboard.open(`/assets/${id}`, user);
  await page.getByText(text).waitFor();
  await page.getByRole("navigation", { name: "Breadcrumb" }).getByRole("link", { name: "Interviews" }).waitFor();
});

test("a recording that does not exist", async () => {
  dashboard.expectFailures(404);
  const page = await (await dashboard.browse(await dashboard.server().user())).newPage();
  await page.goto(dashboard.address(`/assets/${newId()}`));
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
});

test("a cut is made, edited, kept as a draft and saved", async () => {
  const user = await dashboard.server().user(100);
  const asset = await user.ready(await video(12), { filename: "Talk.mp4" });
  const page = await dashboard.open(`/assets/${asset.id}`, user);
  await page.getByText("Options", { exact: true }).click();
  const pause = page.getByLabel("Cut pauses longer than, s");
  await pause.fill("0.05");
  await pause.press("Tab");
  expect(await pause.inputValue()).toBe("0.1");
  await page.getByRole("group", { name: "Mode" }).getByRole("button", { name: "Tight" }).click();
  await button(page, "Make cut").click();
  await page.waitForURL(/\?cut=/);
  await button(page, "Undo").waitFor();
  const words = region(page).getByRole("group", { name: "Words" });
  await words.focus();
  await page.keyboard.press("Control+ArrowRight");
  await page.keyboard.press("Delete");
  await announced(page, "1 word removed");
  expect(await region(page).locator("s").first().textContent()).toBe("alpha");
  await button(page, "Undo").click();
  await announced(page, "Undone: 1 word removed");
  expect(await region(page).locator("s").count()).toBe(0);
  await button(page, "Redo").click();
  await announced(page, "Redone: 1 word removed");
  await page.locator(".save-state [data-draft]").waitFor();
  await button(page, "Hide hints").click();
  const size = page.getByRole("separator", { name: "Height of the timeline" });
  const height = async () => Number(await size.getAttribute("aria-valuenow"));
  const usual = await height();
  await size.press("ArrowUp");
  await until("another height", async () => (await height()) === usual + 16);
  await page.reload();
  await until("the draft", async () => (await region(page).locator("s").count()) === 1);
  expect(await button(page, "Hide hints").count()).toBe(0);
  expect(await height()).toBe(usual + 16);
  await button(page, "Render").click();
  await page.getByText(/^Current loudness: −\d+\.\d LUFS, peak −\d+\.\d dBTP$/).waitFor();
  await page.keyboard.press("Escape");
  // A removed word too: it may be restored later. Selecting starts at the playhead, which is on the word after it.
  await words.focus();
  await page.keyboard.press("Control+ArrowRight");
  await page.keyboard.press("Control+ArrowLeft");
  await page.keyboard.press("F2");
  await page.locator("input:focus").waitFor();
  await page.keyboard.type("Alfa");
  await page.keyboard.press("Enter");
  await announced(page, "“alpha” is now “Alfa”");
  const before = page.url();
  await button(page, "Save").click();
  await page.waitForURL((url) => url.href !== before);
  await until("the new cut", async () => await button(page, "Save").isDisabled());
  expect(await region(page).locator("s").first().textContent()).toBe("Alfa");
});

test("a script of another recording shows advice", async () => {
  const user = await dashboard.server().user(100);
  const asset = await user.ready(await video(12));
  const page = await dashboard.open(`/assets/${asset.id}`, user);
  await page.getByRole("textbox", { name: "Script" }).fill("Nothing of this was ever said by anybody.");
  await button(page, "Make cut").click();
  await page.getByRole("alert").getByText("Check that the script belongs to this recording").waitFor();
});

test("undo and redo reach across a save, corrections too", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.takesCutId}`, user);
  await button(page, "Save").waitFor();
  const { keyboard } = page;
  const words = page.getByRole("group", { name: "Words" });
  const before = await struck(page);
  await words.focus();
  await keyboard.press("Home");
  await keyboard.press("Control+ArrowRight");
  await keyboard.press("F2");
  await page.locator("input:focus").waitFor();
  await keyboard.press("Control+a");
  await keyboard.type("Alfa");
  await keyboard.press("Enter");
  await feedback(page, "“alpha” is now “Alfa”");
  await keyboard.press("Control+ArrowRight");
  await keyboard.press("Delete");
  await feedback(page, "1 word removed");
  const edited = await struck(page);
  await button(page, "Save").click();
  await page.waitForURL((url) => !url.search.includes(asset.takesCutId));
  await until("the saved cut", async () => button(page, "Save").isDisabled());
  expect(await struck(page)).toEqual(edited);
  const saved = new URL(page.url()).searchParams.get("cut")!;
  const readDraft = async () => (await user.call("GET", `/api/v1/cuts/${saved}/draft`)).status;

  await button(page, "Undo").click();
  await feedback(page, "Undone: 1 word removed");
  expect(await struck(page)).toEqual(before.with(0, "Alfa"));
  await until("the draft", async () => (await readDraft()) === 200);
  await button(page, "Undo").click();
  await feedback(page, "Undone: “alpha” is now “Alfa”");
  expect(await words.textContent()).toStartWith("alpha");
  await button(page, "Redo").click();
  expect(await words.textContent()).toStartWith("Alfa");
  await button(page, "Redo").click();
  expect(await struck(page)).toEqual(edited);
  await until("the cut as it is saved", async () => button(page, "Save").isDisabled());
  await until("no draft", async () => (await readDraft()) === 404);

  await button(page, "Undo").click();
  await button(page, "Undo").click();
  await button(page, "Save").click();
  await page.waitForURL((url) => !url.search.includes(saved));
  await until("the saved cut", async () => button(page, "Save").isDisabled());
  expect(await words.textContent()).toStartWith("alpha");
  expect(await struck(page)).toEqual(before);
  // It took the place of the version that was saved before, and of its entry in the history of the browser.
  const overwritten = await user.must<{ superseded_by: string | null }>("GET", `/api/v1/cuts/${saved}`);
  const working = new URL(page.url()).searchParams.get("cut")!;
  expect(overwritten.superseded_by).toBe(working);
  await page
    .locator(".save-state")
    .getByText(/^Saved \d+:\d\d/)
    .waitFor();

  // A new version asks for a name, and leaves the other one as it is.
  await words.focus();
  await keyboard.press("Home");
  await keyboard.press("Control+ArrowRight");
  await keyboard.press("Delete");
  await feedback(page, "1 word restored");
  await keyboard.press("Control+Shift+s");
  const dialog = page.getByRole("dialog", { name: "Save as new version" });
  expect(await dialog.getByLabel("Name").inputValue()).toBe("Natural 4");
  await dialog.getByLabel("Name").fill("For Anna");
  await keyboard.press("Enter");
  await button(page, "Cut For Anna").click();
  const versions = page.getByRole("menu").getByRole("menuitemradio");
  expect((await versions.allTextContents()).map((text) => /^(For Anna|Natural \d|Natural)/.exec(text)?.[0])).toEqual([
    "For Anna",
    "Natural 3",
    "Natural 2",
    "Natural",
  ]);
  await page.getByRole("menuitem", { name: "Rename" }).click();
  const rename = page.getByRole("dialog", { name: "Rename" });
  await rename.getByLabel("Name").fill("For Bea");
  await rename.getByLabel("Note").fill("Without the last word");
  await keyboard.press("Enter");
  await button(page, "Cut For Bea").click();
  await versions
    .first()
    .getByText(/Without the last word$/)
    .waitFor();
  await versions.nth(1).click();
  await page.waitForURL((url) => url.search.includes(working));
});

test("the pacing changes at once, keeps edits by hand, is one step for each change, and is saved with its reasons", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}?cut=${asset.reviewCutId}`, user);
  await button(page, "Save").waitFor();
  const { keyboard } = page;
  const words = page.getByRole("group", { name: "Words" });
  await words.focus();
  await keyboard.press("Home");
  await keyboard.press("Control+ArrowRight");
  await keyboard.press("Delete");
  await feedback(page, "1 word removed");
  const edited = await struck(page);
  await keyboard.press("p");
  const panel = page.getByRole("region", { name: "Pacing" });
  const limit = panel.getByLabel("Cut pauses longer than");
  await limit.waitFor();
  const readLengths = async () =>
    (await panel.getByRole("group", { name: "Mode" }).locator("strong").allTextContents()).map(toSeconds);
  const [tight, natural, loose] = await readLengths();
  expect([tight! <= natural!, natural! < loose!]).toEqual([true, true]);
  await panel.getByRole("button", { name: /^Natural/, pressed: true }).waitFor();
  const result = () => page.getByRole("region", { name: "Result" }).locator("strong").textContent();
  const before = await result();

  await panel.getByRole("button", { name: /^Loose/ }).click();
  await feedback(page, /^Loose, .* longer$/);
  // The reply is over the picture, beside the pacing, so the reasons stay readable.
  const reasons = await page
    .locator(".result-reasons")
    .evaluate(({ clientWidth, scrollWidth }) => [clientWidth, scrollWidth]);
  expect(reasons[0]).toBe(reasons[1]!);
  await until("the length of the card", async () => toSeconds((await result())!) === loose);
  expect(await struck(page)).toEqual(edited);
  await panel.getByLabel("Leave before and after words").fill("0.05");
  await feedback(page, /^0.05 s left beside words, .* shorter$/);
  expect(await panel.getByRole("button", { pressed: true }).count()).toBe(0);
  await panel.getByText("Pauses", { exact: true }).click();
  await feedback(page, /^Pauses kept, .* longer$/);
  for (const _ of ["switch", "slider", "card"]) await keyboard.press("Control+z");
  await until("the length as before", async () => (await result()) === before);
  await panel.getByRole("button", { name: /^Natural/, pressed: true }).waitFor();
  await panel.getByRole("button", { name: /^Tight/ }).click();
  await keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  await until("the length as before", async () => (await result()) === before);

  await button(page, "Pacing").click();
  await limit.fill("0.2");
  await button(page, "Done").click();
  await page.locator(".save-state [data-draft]").waitFor();
  await page.reload();
  const chips = page.getByRole("group", { name: "Removed, by reason" });
  await chips.getByRole("button", { name: /^By hand 1\b/ }).waitFor();
  await button(page, "Pacing").click();
  await until("the options of the draft", async () => (await limit.inputValue()) === "0.2");
  await button(page, "Done").click();
  await button(page, "Save").click();
  await page.waitForURL((url) => !url.search.includes(asset.reviewCutId));
  await button(page, "Cut Custom").waitFor();
  await chips.getByRole("button", { name: /^By hand 1\b/ }).waitFor();
  await keyboard.press("p");
  expect(await limit.inputValue()).toBe("0.2");
  await button(page, "Done").click();

  // Another plan starts with the edits, and undo goes back across it.
  const saved = page.url();
  await page.getByRole("tab", { name: "Script", exact: true }).click();
  await page.getByRole("group", { name: "Mode" }).getByRole("button", { name: "Loose" }).click();
  await button(page, "Re-cut (keeps your edits)").click();
  await page.waitForURL((url) => url.href !== saved);
  await button(page, "Cut Loose").waitFor();
  await chips.getByRole("button", { name: /^By hand 1\b/ }).waitFor();
  await button(page, "Undo").click();
  await feedback(page, "Undone: Re-cut");

  // Also across one that has saved edits first.
  await page.getByRole("tab", { name: "Script", exact: true }).click();
  await page.getByRole("group", { name: "Mode" }).getByRole("button", { name: "Tight" }).click();
  await button(page, "Re-cut (keeps your edits)").click();
  await button(page, "Cut Tight").waitFor();
  await page
    .locator(".work-bar")
    .getByTitle(/^Undo: Re-cut/)
    .waitFor();
});

/** Returns the seconds of a duration such as "0:19". */
function toSeconds(text: string): number {
  return text.split(":").reduce((sum, part) => 60 * sum + Number(part), 0);
}

test("a recording is renamed, tagged and its cut duplicated; the list stays as it was chosen", async () => {
  // A tag is too long.
  dashboard.expectFailures(422);
  const user = await server().user();
  const { id } = await user.project();
  const { id: assetId } = await user.ready(await wav(4), { projectId: id, filename: "talk.wav" });
  await user.cutEnded((await user.startCut({ asset_id: assetId })).id);
  const page = await open(`/projects/${id}`, user);
  const act = async (name: string) => {
    await page.getByRole("button", { name: /^Actions for .*talk/i }).click();
    await page.getByRole("menuitem", { name }).click();
  };
  await act("Rename");
  await page.getByLabel("Name", { exact: true }).fill("Keynote talk");
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("link", { name: "Keynote talk" }).waitFor();
  await act("Notes and tags");
  await page.getByRole("textbox", { name: "Tags" }).fill(`harbor, ${"day 1".repeat(9)}`);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Tag 2 must have 1 to 40 characters.").waitFor();
  // The card's styles are not those of its dialogs.
  const heading = page.getByRole("heading", { level: 2, name: "Notes and tags" });
  expect(await heading.evaluate((element) => getComputedStyle(element).fontSize)).toBe("16px");
  await page.getByRole("textbox", { name: "Tags" }).fill("harbor, day 1");
  await page.getByLabel("Note", { exact: true }).fill("Second camera");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "List" }).click();
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("menuitemcheckbox", { name: "Tags" }).click();
  const table = page.getByRole("table", { name: "Recordings" });
  await table.getByText("harbor, day 1").waitFor();
  await page.reload();
  await table.getByText("harbor, day 1").waitFor();
  await act("Duplicate the cut");
  await page.getByText("The cut was duplicated.").waitFor();
  const toast = page.locator(".toast").filter({ hasText: "The cut was duplicated." });
  const toastLink = (await toast.getByRole("link", { name: "Open" }).boundingBox())!;
  const dismiss = (await toast.getByRole("button", { name: "Dismiss" }).boundingBox())!;
  expect([dismiss.x > toastLink.x, Math.abs(dismiss.y - toastLink.y) < 8]).toEqual([true, true]);
  const { items } = await user.must<{ items: { name: string | null }[] }>("GET", `/api/v1/cuts?asset_id=${assetId}`);
  expect(items.map(({ name }) => name)).toEqual(["Copy of the cut", null]);
  const asset = await user.must<{ note: string; tags: string[] }>("GET", `/api/v1/assets/${assetId}`);
  expect(asset).toMatchObject({ note: "Second camera", tags: ["harbor", "day 1"] });
  const download = page.waitForEvent("download");
  await act("Download the recording");
  expect((await download).suggestedFilename()).toBe("talk.wav");
  await act("Delete");
  await page.getByRole("button", { name: "Delete recording" }).click();
  await table.waitFor({ state: "detached" });
  await page.locator("h1:focus").waitFor();
});
