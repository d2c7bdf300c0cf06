/** A real browser: drags with the mouse, of edges in the timeline and across words. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { isFullSize } from "../full-size";
import { video } from "../http/media";
import { until } from "../until";
import { useDashboard } from "./dashboard";

const { open, server } = useDashboard();

test.if(isFullSize)("an edge follows the mouse, Escape puts it back, and undo too", async () => {
  const user = await server().user(100);
  const asset = await user.ready(await video(12));
  const cut = await user.cutEnded((await user.startCut({ asset_id: asset.id, options: { mode: "tight" } })).id);
  const page = await open(`/assets/${asset.id}?cut=${cut.id}`, user);
  const { segments, source_duration: duration } = cut.plan!;
  const edges = page.getByRole("list", { name: "Edges in view" }).getByRole("button");
  await edges.first().waitFor();
  const before = await edges.allTextContents();
  const canvas = page.getByRole("img", { name: "Audio and removed spans" });
  const grab = async () => {
    const box = (await canvas.boundingBox())!;
    const x = box.x + (segments[0]!.end / duration) * box.width;
    await page.mouse.move(x, box.y + 100);
    expect(await canvas.evaluate(({ style }) => style.cursor)).toBe("col-resize");
    await page.mouse.down();
    await page.mouse.move(x - 20, box.y + 100, { steps: 4 });
  };
  const undo = page.getByRole("button", { name: "Undo", exact: true });

  await grab();
  await page.keyboard.press("Escape");
  await page.mouse.up();
  await until("the edges as before", async () => String(await edges.allTextContents()) === String(before));
  expect(await undo.isDisabled()).toBe(true);

  await grab();
  await page.mouse.up();
  await page.getByRole("status").getByText("Edge moved to").waitFor();
  await until("another edge", async () => String(await edges.allTextContents()) !== String(before));
  await undo.click();
  await until("the edges as before", async () => String(await edges.allTextContents()) === String(before));

  // Words that were removed stay selected. Another drag begins within them.
  const struck = page.getByRole("region", { name: "Transcript" }).locator("s");
  await selectWords(page, "bravo", "delta");
  await page.keyboard.press("Delete");
  await page.getByRole("status").getByText("3 words removed").waitFor();
  await selectWords(page, "charlie", "charlie");
  await page.keyboard.press("Delete");
  await page.getByRole("status").getByText("1 word restored").waitFor();
  expect(await struck.allTextContents()).toEqual(["bravo", "delta"]);
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  expect([await page.evaluate(() => document.getSelection()!.toString())]).toEqual(await struck.allTextContents());
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Everything is removed. Restore something, then save.").waitFor();
  await page.locator(".transport").getByRole("button", { name: "Play" }).click();
  await page.getByText("Everything is removed. Restore something, then play the cut.").waitFor();
});

/** Drags across words with the mouse. */
async function selectWords(page: Page, first: string, last: string): Promise<void> {
  const find = (word: string) =>
    page.getByRole("group", { name: "Words" }).evaluate((words, word) => {
      const walker = document.createTreeWalker(words, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const node = walker.currentNode as Text;
        const at = node.data.indexOf(word);
        if (at < 0) continue;
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        const { left, right, top, bottom } = range.getBoundingClientRect();
        return { left, right, y: (top + bottom) / 2 };
      }
      throw new Error(`"${word}" is not shown`);
    }, word);
  const [from, to] = [await find(first), await find(last)];
  await page.mouse.move(from.left + 3, from.y);
  await page.mouse.down();
  await page.mouse.move(to.right - 3, to.y, { steps: 4 });
  await page.mouse.up();
}
