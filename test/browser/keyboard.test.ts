/** A real browser with the keyboard only: the upload, and everything of the asset page. */
import { expect, test } from "bun:test";
import { wav } from "../http/media";
import { until } from "../until";
import { useDashboard } from "./dashboard";
import { press, readFocus, tabTo } from "./keys";
import { createStudioAsset, SCRIPT } from "./studio";

const { open, server } = useDashboard();

test("the keyboard alone uploads a recording and makes a cut of it", async () => {
  const user = await server().user();
  const { id } = await user.project();
  const page = await open(`/projects/${id}`, user);
  await tabTo(page, "Choose files");
  const chooser = page.waitForEvent("filechooser");
  // The browser is told to report file dialogs, and a key can overtake that. What the page answers now comes after it.
  await page.evaluate(() => {});
  await page.keyboard.press("Enter");
  await (await chooser).setFiles({
    name: "keynote.wav",
    mimeType: "audio/wav",
    buffer: Buffer.from(await wav(26)),
  });
  const row = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "keynote.wav" }) });
  await row.getByText("Ready", { exact: true }).waitFor();
  await press(page, "keynote.wav");
  await page.getByRole("heading", { level: 1, name: "keynote.wav" }).waitFor();
  await until("the focus on the heading", async () => (await readFocus(page)) === "keynote.wav");
  await tabTo(page, "Script");
  await page.keyboard.insertText(SCRIPT);
  await tabTo(page, "Mode");
  await page.keyboard.press("ArrowUp");
  expect(await page.getByLabel("Mode").inputValue()).toBe("tight");
  await press(page, "Make cut");
  await page.getByRole("button", { name: "Save as cut" }).waitFor();
  await page.getByRole("region", { name: "Transcript" }).locator("s").first().waitFor();
});

test("the keyboard alone edits a cut, reviews, chooses a take, renders and exports", async () => {
  const user = await server().user();
  const asset = await createStudioAsset(user);
  const page = await open(`/assets/${asset.id}`, user);
  const { keyboard } = page;
  const said = (text: string | RegExp) => page.getByRole("status").getByText(text).first().waitFor();
  const struck = () => page.getByRole("group", { name: "Words" }).locator("s").allTextContents();
  await page.getByRole("button", { name: "Save as cut" }).waitFor();

  // The other cut, of which everything is to be reviewed.
  await tabTo(page, "Cut");
  await keyboard.press("ArrowDown");
  await page.getByRole("heading", { name: "To review" }).waitFor();
  const playhead = page.getByRole("slider", { name: "Playhead" });
  const before = await playhead.getAttribute("aria-valuetext");
  await press(page, "Next");
  await until("the next span", async () => (await playhead.getAttribute("aria-valuetext")) !== before);
  await tabTo(page, "Cut", "Shift+Tab");
  await keyboard.press("ArrowUp");
  await page.getByRole("heading", { name: "Takes" }).waitFor();

  await tabTo(page, "Words");
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
  await said(/^Undone: Remove \d words?/);
  expect((await struck()).join(" ")).toBe(removed);
  await keyboard.press("Control+Shift+z");
  await said(/^Redone: Remove \d words?/);
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

  await tabTo(page, /^Take 2/);
  await keyboard.press("ArrowUp");
  await until("the other take", async () => page.getByRole("radio", { name: /^Take 1/ }).isChecked());
  await keyboard.press("Control+z");
  await said("Undone: Choose take 1 of 2");
  await keyboard.press("Control+y");
  await press(page, /^Kept from/);
  await keyboard.press(".");
  await said("Edge moved to");

  await press(page, "Export");
  await page.getByRole("dialog", { name: "Export" }).waitFor();
  await tabTo(page, /^Final Cut|^FCPXML|XML/);
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
