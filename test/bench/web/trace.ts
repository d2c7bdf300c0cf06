/** Measurements of frames in the page. */
import type { Page } from "playwright-core";
import type { EditorBench } from "./editor-page";

declare global {
  interface Window {
    bench: EditorBench;
  }
}

/** Slows the processor of a page down. */
export async function slowDown(page: Page, rate: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate });
}

/** `isZoom`: with Ctrl, as a pinch arrives. */
export type Wheel = { deltaX?: number; deltaY?: number; count: number; isZoom?: boolean };
export type Frames = { frames: number; fps: number; p95_ms: number; longest_ms: number };

/**
 * Turns the wheel over an element, null: over the middle of the page, a step a frame, and measures the distances of the
 * frames.
 */
export async function readFrames(page: Page, selector: string | null, wheel: Wheel): Promise<Frames> {
  const { width, height } = page.viewportSize()!;
  const box = selector === null ? { x: 0, y: 0, width, height } : (await page.locator(selector).boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.evaluate(() => {
    const measured = { frames: [] as number[], next: 0 };
    Object.assign(window, { measured });
    const read = (time: number) => {
      measured.frames.push(time);
      measured.next = requestAnimationFrame(read);
    };
    measured.next = requestAnimationFrame(read);
  });
  if (wheel.isZoom) await page.keyboard.down("Control");
  for (let step = 0; step < wheel.count; step++) {
    await page.mouse.wheel(wheel.deltaX ?? 0, wheel.deltaY ?? 0);
    await page.waitForTimeout(8);
  }
  if (wheel.isZoom) await page.keyboard.up("Control");
  const times = await page.evaluate(() => {
    const { frames, next } = (window as unknown as { measured: { frames: number[]; next: number } }).measured;
    cancelAnimationFrame(next);
    return frames;
  });
  const distances = times.slice(1).map((time, index) => time - times[index]!);
  const sorted = distances.toSorted((a, b) => a - b);
  const total = times.at(-1)! - times[0]!;
  return {
    frames: distances.length,
    fps: Math.round((distances.length / total) * 10_000) / 10,
    p95_ms: Math.round(sorted[Math.floor(sorted.length * 0.95)]! * 10) / 10,
    longest_ms: Math.round(sorted.at(-1)! * 10) / 10,
  };
}

/** Processor time of the page's main thread in each frame. */
export type FrameWork = { median_ms: number; p95_ms: number; p99_ms: number; longest_ms: number };

type TraceEvent = { name: string; pid: number; tid: number; ts: number; dur?: number; tdur?: number };

/**
 * Measures the main thread of a page that `readFrames` scrolls, which starts a frame whenever it can. Slows it down a
 * little.
 */
export async function traceFrames(page: Page, wheel: Wheel): Promise<FrameWork> {
  const browser = page.context().browser()!;
  await browser.startTracing(page, { categories: ["devtools.timeline", "disabled-by-default-devtools.timeline"] });
  await readFrames(page, null, wheel);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const callbacks = traceEvents.filter(({ name }) => name === "FireAnimationFrame").sort((a, b) => a.ts - b.ts);
  const { pid, tid } = callbacks[0]!;
  const work: number[] = [];
  let callback = 0;
  for (const task of traceEvents
    .filter((one) => one.name === "RunTask" && one.pid === pid && one.tid === tid)
    .sort((a, b) => a.ts - b.ts)) {
    // One task runs all callbacks of a frame.
    const before = callback;
    while (callback < callbacks.length && callbacks[callback]!.ts <= task.ts + (task.dur ?? 0)) callback++;
    if (callback > before) work.push(0);
    if (work.length > 0) work[work.length - 1]! += (task.tdur ?? task.dur ?? 0) / 1000;
  }
  const sorted = work.slice(1, -1).sort((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)]! * 10) / 10;
  return { median_ms: at(0.5), p95_ms: at(0.95), p99_ms: at(0.99), longest_ms: at(1) };
}
