/** A real browser with the keyboard only: the upload, and everything of the asset page. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { SURE } from "../../src/domain/review-threshold";
import { wav } from "../http/media";
import { until } from "../until";
import { useDashboard } from "./dashboard";
import { press, readFocus, tabTo } from "./keys";
import { createPhoneCall } from "./phone-call";
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
  await tabTo(page, "Take 2");
  await keyboard.press("ArrowUp");
  await page.getByRole("radio", { name: "Take 1", checked: true }).waitFor();
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

/** Counts keys without modifiers and clicks, in the page. */
function countActions(): void {
  const count = () => {
    document.documentElement.dataset.actions = String(Number(document.documentElement.dataset.actions ?? 0) + 1);
  };
  const onKey = ({ key }: KeyboardEvent) => {
    if (!/^(Control|Shift|Alt|Meta)$/.test(key)) count();
  };
  document.addEventListener("keydown", onKey, { capture: true });
  addEventListener("pointerdown", count, { capture: true });
}
const readActions = (page: Page) => page.evaluate(() => Number(document.documentElement.dataset.actions ?? 0));

const heading = (page: Page) => page.getByRole("region", { name: "Place to review" }).getByRole("heading");
const readChecked = (page: Page) => page.getByRole("heading", { name: /checked$/ }).textContent();
type StoredItem = {
  id: string;
  kind: string;
  start: number;
  end: number;
  confidence: number | null;
  state: string;
  reviewed_by: unknown;
};
type StoredReview = { counts: Record<string, number>; items: StoredItem[] };

test("72 removals and 11 marks of a phone call are reviewed with one key each, and the decisions survive", async () => {
  const user = await server().user();
  const call = createPhoneCall();
  server().speech.spoken = call.spoken;
  const { id } = await user.ready(call.wav, { filename: "Call.wav" });
  const { id: cutId } = await user.cutEnded((await user.startCut({ asset_id: id })).id);
  server().speech.spoken = null;
  const readReview = () => user.must<StoredReview>("GET", `/api/v1/cuts/${cutId}/review`);
  const sorted = (await readReview()).items.sort((a, b) => a.start - b.start || a.end - b.end);
  // The first card is the first place that is worth a listen. The menu adds the others around it.
  const isWorth = ({ kind, confidence }: StoredItem) => kind === "mark" || (confidence ?? 1) < SURE;
  const first = sorted.findIndex(isWorth);
  const items = [...sorted.slice(first), ...sorted.slice(0, first)];
  expect(items.map(({ kind }) => kind).filter((kind) => kind === "removal").length).toBe(72);
  expect(items.length).toBe(83);

  // Keys that follow each other faster than a card can play ask for too many pieces.
  expectFailures(503);
  const page = await open(`/assets/${id}?cut=${cutId}`, user);
  const readResult = () => page.locator(".result-reasons").textContent();
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
  await page.evaluate(countActions);
  const { keyboard } = page;
  await keyboard.press("n");
  await heading(page).waitFor();
  const worth = items.filter(isWorth).length;
  expect(await readChecked(page)).toBe(`0 of ${worth} checked`);
  await page.getByRole("button", { name: /^Show:/ }).click();
  const scopes = ["Worth a listen", "Unsure only", "Every removal"];
  const counts = scopes.map((name) => page.getByRole("button", { name }).locator(".number").textContent());
  expect(await Promise.all(counts)).toEqual([worth, worth - 11, 83].map(String));
  // The menu may be taller than the column, and nothing covers its end.
  const isUncovered = await page.locator(".queue-menu button:last-of-type").evaluate((last) => {
    last.parentElement!.scrollTop = 10_000;
    const { left, bottom } = last.getBoundingClientRect();
    return last.contains(document.elementFromPoint(left + 20, bottom - 3));
  });
  expect(isUncovered).toBe(true);
  await page.getByRole("button", { name: "Every removal" }).click();
  await until("all places", async () => (await readChecked(page)) === "0 of 83 checked");
  await page.locator(".review-card h3:focus").waitFor();
  expect(await readActions(page)).toBe(3);

  const press = async (keys: string) => {
    const checked = await readChecked(page);
    await keyboard.press(keys);
    await until("the next card", async () => (await readChecked(page)) !== checked);
  };
  // The editor disagrees with every eighth place.
  const choose = (n: number) => ((items[n]!.kind === "mark") === (n % 8 !== 0) ? "Enter" : "Backspace");
  /** Whether the highlight of the place starts with the pause before it. */
  const hasPauseBefore = () =>
    page.evaluate(() => {
      const first = document.querySelector(".review-words")?.firstChild;
      return first instanceof Element && first.matches(".pause-chip");
    });
  let pausesBefore = 0;
  for (let n = 0; n < items.length; n++) {
    pausesBefore += Number(await hasPauseBefore());
    await press(choose(n));
    if (n === 0) expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H3");
    if (n !== 1) continue;
    // Undo takes back the decision and its card.
    const next = await heading(page).textContent();
    await press("Control+z");
    expect(await readChecked(page)).toBe("1 of 83 checked");
    await press(choose(n));
    expect(await heading(page).textContent()).toBe(next!);
  }
  await page.getByRole("heading", { name: /^All 83 checked/ }).waitFor();
  expect(pausesBefore).toBe(0);
  // Three to open them, two for the decision that was taken back and made again.
  expect(await readActions(page)).toBe(3 + 83 + 2);

  const stored = await until("the decisions on the server", async () => {
    const review = await readReview();
    return review.counts.open === 0 && review;
  });
  const kept = items.filter((_, n) => choose(n) === "Enter").length;
  expect(stored.counts).toEqual({ open: 0, kept, removed: 83 - kept });
  const states = new Map(stored.items.map(({ id, state }) => [id, state]));
  expect(items.map(({ id }) => states.get(id))).toEqual(
    items.map((_, n) => (choose(n) === "Enter" ? "kept" : "removed")),
  );
  expect(stored.items.every(({ reviewed_by }) => reviewed_by !== null)).toBe(true);
  const result = await readResult();
  expect(result).toBe("45 pauses, 10 fillers, 8 retakes, 2 by hand");
  await page.reload();
  await page.getByRole("button", { name: "Save", exact: true }).waitFor();
  await until("the same result", async () => (await readResult()) === result);

  // Decisions of others arrive without a reload.
  const [mark] = items.filter(({ kind }) => kind === "mark");
  await user.must("PATCH", `/api/v1/cuts/${cutId}/review`, { json: { items: [{ id: mark!.id, state: "open" }] } });
  await page.getByRole("button", { name: "Review 1", exact: true }).first().waitFor();
});
