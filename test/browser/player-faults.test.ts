/**
 * The cut player where something is missing: answers of the server, room in the buffers, parts of Media Source
 * Extensions.
 */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Page, Route } from "playwright-core";
import { fromSeconds, type Range } from "../../web/editor/model/plan";
import { isFullSize } from "../full-size";
import { until } from "../until";
import { type OpenPlayer, openPlayer } from "./open-player";
import { compareFrames } from "./player-media";
import type { PlayerHarness } from "./player-page";

declare const harness: PlayerHarness;

setDefaultTimeout(60_000);

const SECONDS = 24;
const KEPT: Range[] = [
  { start: fromSeconds(1), end: fromSeconds(2) },
  { start: fromSeconds(9.6), end: fromSeconds(10.4) },
  { start: fromSeconds(17.08), end: fromSeconds(18) },
];
const WHOLE: Range[] = [{ start: 0, end: fromSeconds(SECONDS) }];
const LENGTH = KEPT.reduce((sum, { start, end }) => sum + end - start, 0);

let player: OpenPlayer;
/** A separate page for each test, because its missing features are set before its scripts run. */
let page: Page;
beforeAll(async () => {
  if (isFullSize) player = await openPlayer(SECONDS, "320:180");
});
afterEach(async () => {
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.close();
});
afterAll(async () => {
  if (isFullSize) await player[Symbol.asyncDispose]();
});

/** Opens the player of a plan. Does not wait until it can play. */
async function open(kept: readonly Range[], missing: () => void = () => {}, isAudioOnly = false): Promise<void> {
  page = await player.openPage();
  await page.addInitScript(missing);
  await page.goto(player.address);
  const { setup } = player;
  await page.evaluate(([setup, kept]) => harness.open(setup, [...kept]), [
    isAudioOnly ? { ...setup, videoType: null, frameRate: null } : setup,
    kept,
  ] as const);
}

/** Plays to the end, and returns the shown frames and the stalls of the player. */
const play = () =>
  page.evaluate(async () => {
    const waited = new Set<string>();
    const stop = harness.player.waiting.subscribe((waiting) => {
      if (waiting !== null) waited.add(waiting);
    });
    harness.player.play();
    // Makes a player that hangs report its position.
    await Promise.race([harness.ended(), new Promise((resolve) => setTimeout(resolve, 30_000))]);
    await new Promise((resolve) => setTimeout(resolve));
    stop();
    return { waited: [...waited], state: harness.state(), shown: harness.shown };
  });

const FAILURES: [string, string, (route: Route) => Promise<void>][] = [
  ["is busy", "offline", (route) => route.fulfill({ status: 503, headers: { "Retry-After": "1" }, json: {} })],
  ["cannot be reached", "offline", (route) => route.abort()],
  ["still makes the preview", "preparing", (route) => route.fulfill({ status: 409, json: {} })],
];

test.if(isFullSize).each(FAILURES)("plays on when the server %s for a moment", async (_, waiting, fail) => {
  await open([]);
  let failures = 6;
  await page.route(/\/pieces\//, (route) => (failures-- > 0 ? fail(route) : route.continue()));
  await page.evaluate((kept) => harness.setKept([...kept]), KEPT);
  const { waited, state, shown } = await play();
  expect(waited).toContain(waiting);
  expect(state).toMatchObject({ error: null, waiting: null, isPlaying: false });
  expect(compareFrames(shown, KEPT).removed).toEqual([]);
});

test.if(isFullSize)("shows why a piece is refused, and plays after another try", async () => {
  await open([]);
  let requests = 0;
  const json = { error: { code: "not_found", message: "Asset not found." } };
  await page.route(/\/pieces\//, (route) => {
    requests++;
    return route.fulfill({ status: 404, json });
  });
  await page.evaluate(async (kept) => {
    harness.setKept([...kept]);
    while (harness.state().error === null) await new Promise((resolve) => setTimeout(resolve, 5));
  }, KEPT);
  expect(await page.evaluate(() => harness.state().error)).toBe("Recording not found.");
  const asked = requests;
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1_500)));
  expect(requests).toBe(asked);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.evaluate(() => harness.player.retry());
  expect((await play()).state).toMatchObject({ error: null, isPlaying: false });
});

test.if(isFullSize)("goes to another place while clean audio cannot be loaded, which then follows", async () => {
  await open(WHOLE);
  await page.evaluate(() => harness.settled());
  let refusals = 0;
  await page.route(/\/pieces\/audio.*noise_reduction/, (route) => {
    refusals++;
    return route.fulfill({ status: 503, json: {} });
  });
  await page.evaluate(() => harness.player.setClean("light"));
  await until("the request", async () => refusals > 0);
  await page.evaluate(() => harness.player.seek(2e6));
  await page.waitForFunction(() => harness.video.currentTime > 1.9 && !harness.video.seeking);
  const loaded = page.waitForResponse((response) => response.url().includes("noise_reduction") && response.ok());
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await loaded;
  expect((await play()).state).toMatchObject({ error: null, isPlaying: false });
});

test.if(isFullSize)("stops asking when the session has ended", async () => {
  await open([]);
  let requests = 0;
  const json = { error: { code: "unauthenticated", message: "Sign in again." } };
  await page.route(/\/pieces\//, (route) => {
    requests++;
    return route.fulfill({ status: 401, json });
  });
  await page.evaluate(async (kept) => {
    harness.setKept([...kept]);
    while (harness.state().error === null) await new Promise((resolve) => setTimeout(resolve, 5));
  }, KEPT);
  const asked = requests;
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 1_500)));
  expect(requests).toBe(asked);
});

test.if(isFullSize)("starts again without a message when the browser closes the source", async () => {
  await open(WHOLE);
  const errors = await page.evaluate(async () => {
    const { player, video } = harness;
    const found: string[] = [];
    player.error.subscribe((error) => void (error !== null && found.push(error)));
    const isClosed = new Promise((resolve) => video.addEventListener("error", resolve, { once: true }));
    // The buffers are gone now, and the next task says why.
    video.src = "data:video/mp4;base64,AAAA";
    player.seek(10e6);
    await isClosed;
    await harness.settled();
    return found;
  });
  expect(errors).toEqual([]);
  expect((await play()).state).toMatchObject({ error: null, isPlaying: false });
});

test.if(isFullSize)("plays in a browser whose buffers are full after ten seconds", async () => {
  await open(WHOLE, () => {
    const { appendBuffer } = SourceBuffer.prototype;
    SourceBuffer.prototype.appendBuffer = function (bytes) {
      const { length } = this.buffered;
      const seconds = length === 0 ? 0 : this.buffered.end(length - 1) - this.buffered.start(0);
      if (seconds > 10) throw new DOMException("Full", "QuotaExceededError");
      appendBuffer.call(this, bytes);
    };
  });
  await page.evaluate(() => harness.player.setRate(2));
  const { state, shown } = await play();
  expect(state).toMatchObject({ error: null, isPlaying: false });
  expect(compareFrames(shown, WHOLE).missing.length).toBeLessThan((SECONDS * 25) / 2);
});

test.if(isFullSize)("plays a recording without video", async () => {
  await open(KEPT, undefined, true);
  const { state } = await play();
  expect(state).toMatchObject({ error: null, isPlaying: false, length: LENGTH });
  expect(Math.abs(state.cutTime - LENGTH)).toBeLessThan(fromSeconds(0.05));
  const after = await page.evaluate(async () => {
    harness.player.seek(10e6);
    await harness.settled();
    return harness.state().sourceTime;
  });
  expect(after).toBe(fromSeconds(10));
});

test.if(isFullSize)("asks for data only while a managed source wants it", async () => {
  await open(KEPT, () => {
    const Standard = MediaSource;
    class Managed extends Standard {
      streaming = false;
    }
    Object.assign(window, {
      ManagedMediaSource: class extends Managed {
        constructor() {
          super();
          setTimeout(() => {
            Object.assign(window, { appendedBefore: this.sourceBuffers[0]?.buffered.length });
            this.streaming = true;
            this.dispatchEvent(new Event("startstreaming"));
          }, 700);
        }
      },
    });
    Reflect.deleteProperty(window, "MediaSource");
  });
  const { state, shown } = await play();
  expect(await page.evaluate(() => (window as unknown as { appendedBefore: number }).appendedBefore)).toBe(0);
  expect(state).toMatchObject({ error: null, isPlaying: false });
  expect(compareFrames(shown, KEPT).removed).toEqual([]);
});

test.if(isFullSize)("plays without Media Source Extensions, twice", async () => {
  await open(KEPT, () => {
    Reflect.deleteProperty(window, "MediaSource");
    Reflect.deleteProperty(window, "ManagedMediaSource");
  });
  for (let time = 0; time < 2; time++) {
    const { state, shown } = await play();
    expect(state).toMatchObject({ error: null, isPlaying: false, length: LENGTH });
    expect(Math.abs(state.cutTime - LENGTH)).toBeLessThan(fromSeconds(0.3));
    // A jump takes a moment, in which frames are shown that follow the span.
    for (const { start, end } of KEPT) {
      const from = (start / 1e6) * 25;
      expect(shown.some(({ frame }) => frame >= from && frame < (end / 1e6) * 25)).toBe(true);
    }
    await page.evaluate(() => harness.shown.splice(0));
  }
});
