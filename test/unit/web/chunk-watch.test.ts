/** The chunks of a long list that are in the page while it scrolls, with simulated frames and heights. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createChunkWatch, FIRST_CHUNKS } from "../../../web/ui/chunk-watch";

const CHUNKS = 3_400;
const CHUNK_PIXELS = 168;
const VIEW_PIXELS = 1_000;

type Notify = (changes: { target: object; borderBoxSize: { blockSize: number }[] }[]) => void;
const page = {
  scrolled: 0,
  frames: [] as (() => void)[],
  unmeasured: new Set<object>(),
  onScroll: () => {},
  notify: (() => {}) as Notify,
};
const globals = {
  innerHeight: VIEW_PIXELS,
  document: { activeElement: null },
  addEventListener: (type: string, listener: () => void) => {
    if (type === "scroll") page.onScroll = listener;
  },
  removeEventListener: () => {},
  requestAnimationFrame: (run: () => void) => page.frames.push(run),
  cancelAnimationFrame: () => {},
  scrollBy: (_: number, pixels: number) => {
    page.scrolled += pixels;
  },
  ResizeObserver: class {
    constructor(notify: Notify) {
      page.notify = notify;
    }
    observe = (element: object) => page.unmeasured.add(element);
    unobserve = (element: object) => page.unmeasured.delete(element);
    disconnect = () => {};
  },
};
const names = Object.keys(globals);
const before = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
beforeAll(() => {
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
});
afterAll(() => {
  for (const [index, name] of names.entries())
    if (before[index]) Object.defineProperty(globalThis, name, before[index]);
    else Reflect.deleteProperty(globalThis, name);
});

/** A list at its top. `frame` scrolls by a number of pixels and returns how many chunks were added. */
function openList() {
  Object.assign(page, { scrolled: 0, frames: [], unmeasured: new Set() });
  const top = { getBoundingClientRect: () => ({ top: -page.scrolled, width: 800 }) };
  const mounted = new Map<number, () => void>();
  let wanted: readonly number[] | null = FIRST_CHUNKS;
  let added = 0;
  const watch = createChunkWatch(
    { current: top as unknown as HTMLElement },
    (numbers) => {
      wanted = numbers;
    },
    () => {},
  );
  const render = () => {
    while (wanted !== null) {
      const shown = new Set(wanted);
      wanted = null;
      for (const [number, remove] of mounted)
        if (!shown.has(number)) {
          remove();
          mounted.delete(number);
        }
      for (const number of shown) {
        if (mounted.has(number)) continue;
        const element = { getBoundingClientRect: () => ({ height: CHUNK_PIXELS }), contains: () => false };
        mounted.set(number, watch.add(element as unknown as Element, number));
        added++;
      }
      watch.afterRender(CHUNKS, 3);
    }
  };
  const frame = (pixels: number): number => {
    const start = added;
    page.scrolled += pixels;
    page.onScroll();
    render();
    for (const run of page.frames.splice(0)) run();
    render();
    while (page.unmeasured.size > 0) {
      const targets = [...page.unmeasured];
      page.unmeasured.clear();
      page.notify(targets.map((target) => ({ target, borderBoxSize: [{ blockSize: CHUNK_PIXELS }] })));
      render();
    }
    return added - start;
  };
  const listMissing = () => {
    const missing: number[] = [];
    const last = Math.floor((page.scrolled + VIEW_PIXELS) / CHUNK_PIXELS);
    for (let number = Math.floor(page.scrolled / CHUNK_PIXELS); number <= last; number++)
      if (!mounted.has(number)) missing.push(number);
    return missing;
  };
  const settle = () => {
    for (let frames = 0; frames < 10 || page.frames.length > 0; frames++) frame(0);
  };
  watch.start();
  render();
  settle();
  return { frame, settle, listMissing, countMounted: () => mounted.size };
}

test.each([100, 250, 450, 700, 2_000])("scrolling %d pixels a frame collects no chunks", (pixels) => {
  const { frame, settle, listMissing, countMounted } = openList();
  const settled = countMounted();
  const inView = Math.ceil(VIEW_PIXELS / CHUNK_PIXELS) + 1;
  for (let n = 0; n < 200; n++) {
    expect(frame(pixels)).toBeLessThanOrEqual(inView + 2);
    expect(listMissing()).toEqual([]);
    // As many wait for their removal as four frames add.
    expect(countMounted()).toBeLessThanOrEqual(settled + 4 * inView);
  }
  settle();
  expect(countMounted()).toBeLessThanOrEqual(settled + 4);
});

test("chunks near the view are rendered at most two per frame, and distant ones are removed", () => {
  const { frame, settle, listMissing, countMounted } = openList();
  const settled = countMounted();
  frame(50_000);
  expect(listMissing()).toEqual([]);
  for (let n = 0; page.frames.length > 0; n++) {
    expect(frame(0)).toBeLessThanOrEqual(2);
    expect(n).toBeLessThan(30);
  }
  settle();
  expect(countMounted()).toBeLessThanOrEqual(settled + 4);
});
