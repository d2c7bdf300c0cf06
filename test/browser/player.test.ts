/** The cut player in a real browser, on pieces that the server makes. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { fromSeconds, type Range } from "../../web/editor/model/plan";
import { isFullSize } from "../full-size";
import { checkCleanAudio, type DrivenPage } from "./clean-audio-check";
import { type OpenPlayer, openPlayer } from "./open-player";
import { compareFrames, listFrames } from "./player-media";
import type { PlayerHarness } from "./player-page";

declare const harness: PlayerHarness;

setDefaultTimeout(300_000);

const SECONDS = 24;

/** Spans in seconds: they start on keyframes and between them, and none lasts long. */
const KEPT = toSpans([1, 2], [3.24, 3.84], [9.6, 10.4], [17.08, 18]);

function toSpans(...spans: [number, number][]): Range[] {
  return spans.map(([start, end]) => ({ start: fromSeconds(start), end: fromSeconds(end) }));
}

let player: OpenPlayer;
beforeAll(async () => {
  player = await openPlayer(SECONDS, "320:180");
});
afterAll(async () => {
  await player[Symbol.asyncDispose]();
  expect(player.problems).toEqual([]);
});

test("plays a cut to its end and shows no removed frame", async () => {
  await player.open(KEPT);
  const { shown, state } = await player.page.evaluate(async () => {
    harness.player.play();
    await harness.ended();
    return { shown: harness.shown, state: harness.state() };
  });
  const { removed, missing, expected } = compareFrames(shown, KEPT);
  expect(removed).toEqual([]);
  // A busy machine may skip frames, but no span.
  expect(KEPT.filter((span) => compareFrames(shown, [span]).missing.length === listFrames([span]).length)).toEqual([]);
  if (isFullSize) expect(missing.length).toBeLessThan(expected / 2);
  expect(state).toMatchObject({ isPlaying: false, error: null });
  expect(Math.abs(state.cutTime - fromSeconds(3.32))).toBeLessThan(fromSeconds(0.03));
});

test("shows the first frame of a cut whose start was rounded to microseconds", async () => {
  const frame = 26;
  await player.open([{ start: fromSeconds(frame / 25) + 1, end: fromSeconds(2) }]);
  await player.page.waitForFunction(() => harness.shown.length > 0);
  const { start, shown } = await player.page.evaluate(() => ({
    start: harness.video.buffered.start(0),
    shown: harness.shown.at(0)?.frame,
  }));
  expect(start).toBeLessThan(0.001);
  expect(shown).toBe(frame);
});

test("plays on after an edit under the playhead, and after one ahead of it", async () => {
  const whole = toSpans([0, SECONDS]);
  const first = toSpans([0, 0.4], [6.2, SECONDS]);
  const second = toSpans([0, 0.4], [6.2, 7.6], [20.12, 21]);
  await player.open(whole);
  const { shown, edited, editedAgain, state } = await player.page.evaluate(
    async ([first, second]) => {
      const pass = (time: number) =>
        new Promise<void>((resolve) => {
          const stop = harness.player.sourceTime.subscribe((now) => {
            if (now < time * 1e6) return;
            // The first call comes before `subscribe` has returned.
            setTimeout(() => stop());
            resolve();
          });
        });
      harness.player.play();
      await pass(0.8);
      const edited = harness.setKept(first);
      await pass(6.5);
      const editedAgain = harness.setKept(second);
      await harness.ended();
      return { shown: harness.shown, edited, editedAgain, state: harness.state() };
    },
    [first, second] as const,
  );
  // Frames that the browser had already begun to show may follow an edit.
  const find = (time: number, kept: Range[]) => {
    const frames = new Set(listFrames(kept));
    return shown.findIndex(({ frame, at }) => at > time && frames.has(frame));
  };
  const after = shown.slice(find(editedAgain, second));
  expect(compareFrames(shown.slice(find(edited, first), -after.length), first).removed).toEqual([]);
  expect(compareFrames(after, second).removed).toEqual([]);
  expect(after.some(({ frame }) => frame >= 20.12 * 25)).toBe(true);
  // Frames before it are decoded when playback continues there.
  expect(shown.filter(({ frame }) => frame >= 5.5 * 25 && frame < 6.2 * 25)).toEqual([]);
  expect(state.error).toBeNull();
});

test("goes back across a join to media that was not loaded", async () => {
  const { page } = player;
  // The second piece comes only when the third plays.
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/\/pieces\/.*from=3\.24/, async (route) => {
    await released;
    await route.continue().catch(() => {});
  });
  await player.open(KEPT);
  const readFrame = (expected: number) =>
    page.evaluate(async (expected) => {
      for (let tries = 0; tries < 12_000 && harness.shown.at(-1)?.frame !== expected; tries++)
        await new Promise((resolve) => setTimeout(resolve, 5));
      return { frame: harness.shown.at(-1)!.frame, sourceTime: harness.state().sourceTime / 1e6 };
    }, expected);
  await page.evaluate(() => harness.player.seek(9.6e6));
  expect(await readFrame(240)).toEqual({ frame: 240, sourceTime: 9.6 });
  release();
  await page.evaluate(() => harness.player.seekBy(-40_000));
  expect(await readFrame(95)).toEqual({ frame: 95, sourceTime: 3.8 });
  // The frame is painted before the browser reports that it can continue.
  await page.waitForFunction(() => harness.state().waiting === null);
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("plays from a jump near the end of a piece to the end without the rest of the piece", async () => {
  const { page } = player;
  // The first piece, and those of jumps, which have a place.
  await page.route(/\/pieces\//, (route) => {
    const { searchParams } = new URL(route.request().url());
    if (searchParams.get("from") === "0" || searchParams.has("seek")) return route.continue();
  });
  await player.open(toSpans([0, SECONDS]));
  const { state, shown } = await page.evaluate(async () => {
    harness.player.seek(23.2e6);
    await harness.settled();
    harness.player.play();
    await harness.ended();
    return { state: harness.state(), shown: harness.shown };
  });
  expect(state).toMatchObject({ isPlaying: false, error: null });
  expect(shown.at(-1)!.frame).toBeGreaterThan(23.8 * 25);
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("loads a piece once for steps back from a jump near its end", async () => {
  const { page } = player;
  // Without the second piece, the others are not loaded before the jump.
  await page.route(/\/pieces\/.*from=3&/, () => {});
  await player.open(toSpans(...Array.from({ length: 8 }, (_, n): [number, number] => [n * 3, n * 3 + 2])));
  await page.evaluate(async () => {
    harness.player.seek(13.6e6);
    await harness.settled();
  });
  const requests: string[] = [];
  const count = (request: { url(): string }) =>
    void (/\/pieces\/video/.test(request.url()) && requests.push(request.url()));
  page.on("request", count);
  const state = await page.evaluate(async () => {
    for (let n = 0; n < 10; n++) {
      harness.player.seekBy(-40_000);
      await harness.settled();
    }
    return harness.state();
  });
  page.off("request", count);
  expect(requests.filter((url) => url.includes("from=12&"))).toHaveLength(1);
  expect(state).toMatchObject({ sourceTime: 13.2e6, error: null });
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("tries again when the server is busy", async () => {
  let failures = 2;
  await player.page.route(/\/pieces\//, (route) =>
    failures-- > 0 ? route.fulfill({ status: 503, json: {} }) : route.continue(),
  );
  await player.open(toSpans([1, 2]));
  await player.page.unrouteAll({ behavior: "ignoreErrors" });
  const state = await player.page.evaluate(async () => {
    harness.player.play();
    await harness.ended();
    return harness.state();
  });
  expect(failures).toBeLessThan(0);
  expect(state).toMatchObject({ error: null, waiting: null, isPlaying: false });
  expect(player.problems.splice(0).every((text) => text.includes("503"))).toBe(true);
});

test("goes to places of the source, kept and removed, and by time of the cut", async () => {
  await player.open(KEPT);
  /** Waits for the frame: the one before may be reported once more until then. */
  const read = (move: "seek" | "seekBy", seconds: number, frame: number) =>
    player.page.evaluate(
      async ([move, seconds, frame]) => {
        harness.player[move](seconds * 1e6);
        await harness.settled();
        for (let tries = 0; tries < 1_000 && harness.shown.at(-1)!.frame !== frame; tries++)
          await new Promise((resolve) => setTimeout(resolve, 5));
        return { sourceTime: harness.state().sourceTime / 1e6, frame: harness.shown.at(-1)!.frame };
      },
      [move, seconds, frame] as const,
    );
  expect(await read("seek", 10, 250)).toEqual({ sourceTime: 10, frame: 250 });
  expect(await read("seek", 5, 240)).toEqual({ sourceTime: 9.6, frame: 240 });
  // Back across the join.
  expect(await read("seekBy", -0.04, 95)).toEqual({ sourceTime: 3.8, frame: 95 });
  expect(await read("seek", 17.48, 437)).toEqual({ sourceTime: 17.48, frame: 437 });
});

test("plays a range of the source to its end, then waits there in it", async () => {
  await player.open(KEPT);
  const [range] = toSpans([12.2, 12.8]) as [Range];
  const { shown, state } = await player.page.evaluate(async (range) => {
    harness.player.playRange(range);
    await harness.ended();
    await new Promise((resolve) => setTimeout(resolve, 100));
    await harness.settled();
    return { shown: harness.shown, state: harness.state() };
  }, range);
  const played = shown.filter(({ frame }) => frame > 50);
  expect(played.filter(({ frame }) => frame < 305 || frame > 320)).toEqual([]);
  expect(state).toMatchObject({ isPlaying: false, sourceTime: range.end, error: null });
});

test("changes from a source that is too slow to the preview when it stalls twice", async () => {
  const { page, setup } = player;
  const asked: string[] = [];
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/\/pieces\/video\?/, async (route) => {
    const { searchParams } = new URL(route.request().url());
    const from = searchParams.get("from")!;
    const isSource = searchParams.get("variant") === "source";
    asked.push(`${searchParams.get("variant")} ${from}`);
    // The second piece comes after the first stall, and the others never.
    if (isSource && from === "3.24") await released;
    if (isSource && Number(from) > 4) return;
    await route.continue().catch(() => {});
  });
  await page.goto(player.address);
  const play = page.evaluate(
    async ([setup, kept]) => {
      harness.open(setup, [...kept]);
      await harness.settled();
      harness.player.play();
      await harness.ended();
      return { shown: harness.shown, state: harness.state() };
    },
    [{ ...setup, sourceTypes: { video: setup.videoType, audio: null } }, KEPT] as const,
  );
  await page.waitForFunction(() => harness.stalls.length > 0);
  // On a busy machine, it may have stalled before, at the start.
  const askedBefore = [...asked];
  const isFirst = (await page.evaluate(() => harness.stalls.length)) === 1;
  if (isFirst) expect(askedBefore.filter((piece) => !piece.startsWith("source"))).toEqual([]);
  release();
  const { shown, state } = await play;
  await page.unrouteAll({ behavior: "ignoreErrors" });
  expect(state).toMatchObject({ isPlaying: false, error: null });
  expect(asked).toEqual(expect.arrayContaining(["source 1", "source 3.24", "preview 9.6", "preview 17.08"]));
  if (isFirst) expect(asked).not.toContain("preview 3.24");
  expect(compareFrames(shown, KEPT).removed).toEqual([]);
});

test("does not change to the preview when the browser waits at the end, where everything is loaded", async () => {
  const { page, setup } = player;
  const asked = new Set<string>();
  await page.route(/\/pieces\/video\?/, async (route) => {
    asked.add(new URL(route.request().url()).searchParams.get("variant")!);
    await route.continue();
  });
  await page.goto(player.address);
  const state = await page.evaluate(
    async ([setup, kept]) => {
      harness.open(setup, [...kept]);
      await harness.settled();
      const { video, player } = harness;
      for (let n = 0; n < 3; n++) {
        player.seek(1e6);
        player.play();
        while (video.paused || video.currentTime < 0.5) await new Promise((resolve) => setTimeout(resolve, 2));
        // Firefox does this by itself.
        video.dispatchEvent(new Event("waiting"));
        await harness.ended();
      }
      harness.setKept([{ start: 5e6, end: 6e6 }]);
      player.seek(5e6);
      await harness.settled();
      return harness.state();
    },
    [{ ...setup, sourceTypes: { video: setup.videoType, audio: null } }, [{ start: 1e6, end: 2e6 }]] as const,
  );
  await page.unrouteAll({ behavior: "ignoreErrors" });
  expect(state).toMatchObject({ isPlaying: false, error: null });
  expect([...asked]).toEqual(["source"]);
});

/**
 * Turns the IDR slices of an H.264 piece into slices of other frames. The bitstream counts for browsers, not the flags
 * of the file.
 */
function removeKeyframes(piece: Buffer): Buffer {
  const samples = piece.subarray(piece.indexOf("mdat") + 4);
  for (let at = 0; at < samples.length; at += 4 + samples.readUInt32BE(at))
    if ((samples[at + 4]! & 31) === 5) samples[at + 4]! -= 4;
  return piece;
}

test.each<[string, (piece: Buffer) => Buffer]>([
  ["whose frames it drops without an error", removeKeyframes],
  ["that it cannot read", (piece) => piece.subarray(0, 40)],
])("plays the preview in place of a source %s", async (_, damage) => {
  const { page, setup } = player;
  const asked = new Set<string>();
  await page.route(/\/pieces\/video\?/, async (route) => {
    const variant = new URL(route.request().url()).searchParams.get("variant")!;
    asked.add(variant);
    if (variant !== "source") return await route.continue();
    const url = route.request().url().replace("studio.test", "127.0.0.1");
    const response = await route.fetch({ url });
    await route.fulfill({ response, body: damage(await response.body()) });
  });
  await page.goto(player.address);
  const { shown, state } = await page.evaluate(
    async ([setup, kept]) => {
      harness.open(setup, [...kept]);
      await harness.settled();
      harness.player.play();
      await harness.ended();
      return { shown: harness.shown, state: harness.state() };
    },
    [{ ...setup, sourceTypes: { video: setup.videoType, audio: null } }, KEPT] as const,
  );
  await page.unrouteAll({ behavior: "ignoreErrors" });
  expect([...asked]).toEqual(["source", "preview"]);
  expect(state).toMatchObject({ isPlaying: false, error: null });
  expect(compareFrames(shown, KEPT).removed).toEqual([]);
});

test("clean audio switches without a gap, and the output equals the render within 1 dB", async () => {
  await checkCleanAudio({ ...player, page: player.page as unknown as DrivenPage });
});
