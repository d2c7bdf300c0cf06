/** A real browser with the keyboard only: the upload, and everything of the asset page. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { newId } from "../../src/lib/ids";
import { findCutById, insertCut } from "../../src/store/cuts";
import { wav } from "../http/media";
import { until } from "../until";
import { useDashboard } from "./dashboard";
import { press, readFocus, tabTo } from "./keys";
import { createStudioAsset, SCRIPT } from "./studio";

const { expectFailures, open, server } = useDashboard();

test("the keyboard alone uploads a recording and makes a cut of it", async () => {
  const user = await server().user();
  const { id } = await user.project();
  const page = await open(`/projects/${id}`, user);
  await tabTo(page, "Choose files");
  const chooser = page.waitForEvent("filechooser");
  // A key can overtake the command that makes the browser report file dialogs. A response of the page now comes after
  // it.
  await page.evaluate(() => {});
  await page.keyboard.press("Enter");
  await (await chooser).setFiles({
    name: "keynote.wav",
    mimeType: "audio/wav",
    buffer: Buffer.from(await wav(26)),
  });
  const row = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "keynote.wav" }) });
  await row.getByText("No cut yet").waitFor();
  await press(page, "keynote.wav");
  await page.getByRole("heading", { level: 1, name: "keynote.wav" }).waitFor();
  await until("the focus on the heading", async () => (await readFocus(page)) === "keynote.wav");
  // The tab, then the field in it.
  await tabTo(page, "Script");
  await tabTo(page, "Script");
  await page.keyboard.insertText(SCRIPT);
  await press(page, "Tight");
  await press(page, "Make cut");
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
  await page.getByRole("region", { name: "Transcript" }).locator("s").first().waitFor();
});

test("the keyboard alone edits a cut, reviews, chooses a take, renders and exports", async () => {
  // A busy server may ask the player to try again.
  expectFailures(503);
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}`, user);
  const { keyboard } = page;
  const said = (text: string | RegExp) => page.getByRole("status").getByText(text).first().waitFor();
  const struck = () => page.getByRole("group", { name: "Words" }).locator("s").allTextContents();
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();

  // The other cut, of which everything is to be reviewed.
  await press(page, /^Cut \w/);
  await keyboard.press("ArrowDown");
  await keyboard.press("Enter");
  await page.getByRole("tab", { name: /^Review \d/ }).waitFor();
  await tabTo(page, "Transcript");
  await keyboard.press("ArrowRight");
  const playhead = page.getByRole("slider", { name: "Playhead" });
  const before = await playhead.getAttribute("aria-valuetext");
  await press(page, "Next");
  await until("the next span", async () => (await playhead.getAttribute("aria-valuetext")) !== before);
  await tabTo(page, /^Cut \w/, "Shift+Tab");
  await keyboard.press("Enter");
  await keyboard.press("Enter");
  await page.getByRole("tab", { name: /^Takes \d/ }).waitFor();
  await keyboard.press("Control+f");
  await page.locator("input[type=search]:focus").waitFor();
  await keyboard.press("Escape");
  await until("the focus on the words", async () => (await readFocus(page)) === "Words");
  await keyboard.press("Home");
  const removed = (await struck()).join(" ");
  // The planner decides which words are kept, and the playhead, where the selection starts.
  const isKept = () => page.evaluate(() => document.getSelection()!.anchorNode?.parentElement?.tagName === "P");
  do await keyboard.press("Control+ArrowRight");
  while (!(await isKept()));
  await keyboard.press("Control+Shift+ArrowRight");
  await keyboard.press("Delete");
  await said(/^\d words? removed/);
  expect((await struck()).join(" ")).not.toBe(removed);
  await keyboard.press("Control+z");
  await said(/^Undone: \d words? removed/);
  expect((await struck()).join(" ")).toBe(removed);
  await keyboard.press("Control+Shift+z");
  await said(/^Redone: \d words? removed/);
  await keyboard.press("Control+f");
  await page.locator("input:focus").waitFor();
  await keyboard.press("Escape");
  expect(await readFocus(page)).toBe("Words");
  await keyboard.press("F2");
  await page.locator("input:focus").waitFor();
  await keyboard.press("Control+a");
  await keyboard.type("Charlie");
  await keyboard.press("Enter");
  await until("the focus on the words", async () => (await readFocus(page)) === "Words");
  await keyboard.press("Control+z");
  await keyboard.press("Control+z");

  await tabTo(page, "Transcript", "Shift+Tab");
  await keyboard.press("ArrowRight");
  await keyboard.press("ArrowRight");
  await press(page, /^Take 1/);
  await page.getByRole("button", { name: /^Take 1/, pressed: true }).waitFor();
  await keyboard.press("Control+z");
  await said("Undone: Choose take 1 of 2");
  await keyboard.press("Control+y");
  await press(page, /^Kept from/);
  await keyboard.press(".");
  await said("Edge moved to");

  await press(page, "Export");
  await page.getByRole("dialog", { name: "Export" }).waitFor();
  await tabTo(page, /^Final Cut Pro/);
  await keyboard.press("Escape");
  expect(await readFocus(page)).toBe("Export");
  await press(page, "Render");
  const dialog = page.getByRole("dialog", { name: "Render" });
  await press(page, "Start");
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Download", exact: true }).waitFor();
  const download = page.waitForEvent("download");
  await press(page, "Download");
  await (await download).cancel();
});

/** Stores a plan with this many removals and marks in place of a new cut's plan. Returns the ID of the cut. */
async function storePlan(likeCutId: string, removals: number, marks: number): Promise<string> {
  const { store } = server().services();
  const cut = (await findCutById(store.read, likeCutId))!;
  const {
    segments: [segment],
    ...stored
  } = JSON.parse(cut.plan!);
  const duration = stored.source_duration;
  const step = duration / (removals + 1);
  const starts = Array.from({ length: removals }, (_, n) => (n + 0.6) * step);
  const removed = starts.map((start, n) => ({
    start,
    end: start + 0.12,
    text: "",
    reason: ["silence", "filler", "retake"][n % 3],
    rule: ["pause.long", "filler.written", "retake.worse_take"][n % 3],
  }));
  const segments = [0, ...removed.map(({ end }) => end)].map((start, n) => ({
    ...segment,
    start,
    end: removed[n]?.start ?? duration,
    review: n < marks ? "maybe a retake" : null,
  }));
  const id = newId();
  const plan = JSON.stringify({ ...stored, segments, removed });
  await store.write((tx) => insertCut(tx, { ...cut, id, request_hash: null, basis: null, plan }));
  return id;
}

const heading = (page: Page) => page.getByRole("region", { name: "Place to review" }).getByRole("heading");
const readChecked = (page: Page) => page.getByRole("heading", { name: /checked$/ }).textContent();
type StoredReview = { counts: Record<string, number>; items: { id: string; state: string; reviewed_by: unknown }[] };

test("72 removals and 11 marks are reviewed with one key each, and the decisions survive", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  // Keys that follow each other faster than a card can play ask for too many pieces.
  expectFailures(503);
  const cutId = await storePlan(asset.reviewCutId, 72, 11);
  const page = await open(`/assets/${asset.id}?cut=${cutId}`, user);
  const readResult = () => page.locator(".result-reasons").textContent();
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
  const { keyboard } = page;
  const readReview = () => user.must<StoredReview>("GET", `/api/v1/cuts/${cutId}/review`);
  // Marks and unsure removals come first; the menu adds the others.
  await keyboard.press("n");
  await heading(page).waitFor();
  expect(await readChecked(page)).toBe("0 of 11 checked");
  await page.getByRole("button", { name: /^Show:/ }).click();
  await page.getByRole("button", { name: "Every removal" }).click();
  await until("all places", async () => (await readChecked(page)) === "0 of 83 checked");
  await page.locator(".review-card h3:focus").waitFor();

  let presses = 0;
  const press = async (keys: string) => {
    const before = await readChecked(page);
    await keyboard.press(keys);
    presses++;
    await until("the next card", async () => (await readChecked(page)) !== before);
  };
  await press("Enter");
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H3");
  await press("Backspace");
  // Undo takes back the decision and its card.
  const next = await heading(page).textContent();
  await press("Control+z");
  expect(await readChecked(page)).toBe("1 of 83 checked");
  await press("Backspace");
  expect(await heading(page).textContent()).toBe(next!);
  presses = 2;
  while (presses < 83) await press(presses % 4 === 0 ? "Backspace" : "Enter");
  await page.getByRole("heading", { name: /^All 83 checked/ }).waitFor();
  expect(presses).toBe(83);

  const counts = await until("the decisions on the server", async () => {
    const review = await readReview();
    return review.counts.open === 0 && review;
  });
  expect(counts.counts).toEqual({ open: 0, kept: 62, removed: 21 });
  expect(counts.items.every(({ reviewed_by }) => reviewed_by !== null)).toBe(true);
  const result = await readResult();
  expect(result).toBe("6 pauses, 5 fillers, 5 retakes, 5 removals by hand");
  await page.reload();
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
  await until("the same result", async () => (await readResult()) === result);

  // Decisions of others arrive without a reload.
  const [first] = counts.items;
  await user.must("PATCH", `/api/v1/cuts/${cutId}/review`, { json: { items: [{ id: first!.id, state: "open" }] } });
  await page.getByRole("button", { name: "Review 1", exact: true }).first().waitFor();
});
