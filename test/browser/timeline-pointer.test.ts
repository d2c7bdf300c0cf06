/** A real browser: audio while the playhead is dragged or moves by frames, and handles under the mouse. */
import { expect, test } from "bun:test";
import { until } from "../until";
import { useDashboard } from "./dashboard";
import { openStudio } from "./studio";

const dashboard = useDashboard();

/** Length of the blocks in which the page loads the audio of grains. */
const BLOCK_SECONDS = 4;

type Grains = { offsets: number[]; lengths: number[]; playing: number };

/** Counts in the page the grains that start, and those that have not ended. */
function watchGrains(): void {
  const grains: Grains = { offsets: [], lengths: [], playing: 0 };
  Object.assign(window, { grains });
  const { start } = AudioBufferSourceNode.prototype;
  AudioBufferSourceNode.prototype.start = function (when, offset = 0, length = 0) {
    grains.offsets.push(offset);
    grains.lengths.push(length);
    grains.playing++;
    this.addEventListener("ended", () => grains.playing--);
    start.call(this, when, offset, length);
  };
}

test("the audio follows a dragged flag and the steps of keys, unless it is muted, and stops", async () => {
  const page = await openStudio(dashboard);
  await page.evaluate(watchGrains);
  const read = () => page.evaluate(() => (window as unknown as { grains: Grains }).grains);
  const flag = page.locator(".timeline-flag");
  const { mouse, keyboard } = page;
  const silence = () => until("silence", async () => (await read()).playing === 0);
  let x = 0;
  let y = 0;
  const press = async () => {
    const box = (await flag.boundingBox())!;
    [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await mouse.move(x, y);
    await mouse.down();
  };

  await press();
  // The first grain waits for the audio.
  let moves = 0;
  await until("the first grain of a drag", async () => {
    await mouse.move(x + 7 * (1 + (moves++ % 2)), y);
    return (await read()).offsets.length > 0;
  });
  const offsets: number[] = [];
  for (let step = 3; step <= 5; step++) {
    await silence();
    const { length } = (await read()).offsets;
    await mouse.move(x + 7 * step, y);
    await until("a grain of the drag", async () => (await read()).offsets.length > length);
    offsets.push((await read()).offsets.at(-1)!);
  }
  await mouse.up();
  const dragged = await read();
  expect(Math.max(...dragged.lengths)).toBeLessThan(0.1);
  // The drag may enter the next block, in which offsets start again.
  for (const step of [1, 2]) {
    const distance = (offsets[step]! - offsets[step - 1]! + BLOCK_SECONDS) % BLOCK_SECONDS;
    expect(distance).toBeGreaterThan(0);
    expect(distance).toBeLessThan(BLOCK_SECONDS / 2);
  }
  expect(await page.locator(".transport .play-button").getAttribute("aria-label")).toBe("Play");
  await silence();

  const seconds = async () => Number(await flag.getAttribute("aria-valuenow"));
  await keyboard.press("Home");
  await keyboard.press("Shift+ArrowRight");
  await until("the grain of a step", async () => (await read()).offsets.length > dragged.offsets.length);
  // The part of the audio starts up to 50 ms before its first sample is due.
  const offset = (await read()).offsets.at(-1)!;
  expect(offset - (await seconds())).toBeGreaterThanOrEqual(-0.5);
  expect(offset - (await seconds())).toBeLessThan(0.56);

  await keyboard.press("m");
  const { length } = (await read()).offsets;
  await press();
  for (let step = 1; step <= 12; step++) await mouse.move(x + 7 * step, y);
  await mouse.up();
  await keyboard.press("ArrowRight");
  // Only the step after that has a grain.
  await keyboard.press("m");
  await keyboard.press("Shift+ArrowRight");
  await until("the grain of the last step", async () => (await read()).offsets.length > length);
  expect((await read()).offsets).toHaveLength(length + 1);
});

test("the edges of a removed span have handles under the mouse and while it is selected", async () => {
  const page = await openStudio(dashboard);
  const canvas = page.locator(".timeline-canvas canvas");
  const digest = async () => Bun.hash(await canvas.screenshot());
  // The last word is removed: its span ends where no other one starts.
  await page.locator(".transcript-text s").last().click();
  await page.keyboard.press("Escape");
  await page.keyboard.press("x");
  const box = (await canvas.boundingBox())!;
  const flag = (await page.locator(".timeline-flag").boundingBox())!;
  const inside = flag.x + flag.width / 2 + 4;
  const middle = box.y + box.height * 0.6;
  await page.mouse.move(inside, box.y - 20);
  let plain = await digest();
  await until("a canvas that does not change", async () => {
    const before = plain;
    plain = await digest();
    return plain === before;
  });
  await page.mouse.move(inside, middle);
  await until("handles under the mouse", async () => (await digest()) !== plain);
  await page.mouse.move(inside, box.y - 20);
  await until("no handles", async () => (await digest()) === plain);
});
