/** A real browser: edges of the timeline that are dragged with the mouse. */
import { expect, test } from "bun:test";
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
  const canvas = page.getByRole("img", { name: "Audio, and what is removed" });
  const grab = async () => {
    const box = (await canvas.boundingBox())!;
    const x = box.x + (segments[0]!.end / duration) * box.width;
    await page.mouse.move(x, box.y + 100);
    expect(await canvas.evaluate(({ style }) => style.cursor)).toBe("col-resize");
    await page.mouse.down();
    await page.mouse.move(x - 20, box.y + 100, { steps: 4 });
  };
  const undo = page.getByRole("button", { name: "Undo" });

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
});
