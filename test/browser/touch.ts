/** Touches that Playwright lacks. */
import type { Page } from "playwright-core";

/**
 * Holds a word with a finger until it is selected. The browser makes touches of the mouse: it ignores how long touches
 * of the protocol last.
 */
export async function longPress(page: Page, word: string): Promise<void> {
  const words = page.getByRole("group", { name: "Words" });
  const { x, y } = await words
    .getByText(word)
    .first()
    .evaluate((element, wanted) => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      while (!walker.nextNode()?.textContent?.includes(wanted));
      const start = walker.currentNode.textContent!.indexOf(wanted);
      const range = document.createRange();
      range.setStart(walker.currentNode, start);
      range.setEnd(walker.currentNode, start + wanted.length);
      const box = range.getBoundingClientRect();
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    }, word);
  const session = await page.context().newCDPSession(page);
  const emulate = (enabled: boolean) =>
    session.send("Emulation.setEmitTouchEventsForMouse", { enabled, configuration: "mobile" });
  const point = { x, y, button: "left", clickCount: 1 } as const;
  await emulate(true);
  // Answered only when the mouse is released.
  const pressed = session.send("Input.dispatchMouseEvent", { ...point, type: "mousePressed" });
  await page.waitForFunction(() => !document.getSelection()!.isCollapsed);
  const released = session.send("Input.dispatchMouseEvent", { ...point, type: "mouseReleased" });
  // Events that became a gesture are not answered.
  void Promise.allSettled([pressed, released]);
  await emulate(false);
}

type Finger = {
  down(x: number, y: number): Promise<void>;
  move(...places: number[][]): Promise<void>;
  up(): Promise<void>;
};

/** Moves two fingers from their distance `from` to `to`, in pixels, around a point. */
export async function pinch(page: Page, [x, y]: [number, number], from: number, to: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const place = (distance: number) => [
    { x: x - distance / 2, y, id: 0 },
    { x: x + distance / 2, y, id: 1 },
  ];
  await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: place(from) });
  for (const share of [0.25, 0.5, 0.75, 1])
    await session.send("Input.dispatchTouchEvent", {
      type: "touchMove",
      touchPoints: place(from + share * (to - from)),
    });
  await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
}

/** Returns a finger on the page. */
export async function createFinger(page: Page): Promise<Finger> {
  const session = await page.context().newCDPSession(page);
  const touch = async (type: "touchStart" | "touchMove" | "touchEnd", touchPoints: { x: number; y: number }[]) => {
    await session.send("Input.dispatchTouchEvent", { type, touchPoints });
  };
  return {
    down: (x, y) => touch("touchStart", [{ x, y }]),
    move: async (...places) => {
      for (const [x, y] of places) await touch("touchMove", [{ x: x!, y: y! }]);
    },
    up: () => touch("touchEnd", []),
  };
}
