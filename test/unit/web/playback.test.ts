/** What the player has to play: the edited cut, or a part of another one. */
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { type EditorPlan, readPlan, removeRange } from "../../../web/editor/model/plan";
import type { PlayableMedia } from "../../../web/editor/player/engine";
import { usePageGlobals } from "./page-globals";

const SECOND = 1_000_000;
const WHOLE: EditorPlan = {
  duration: 40 * SECOND,
  spans: [{ start: 0, end: 40 * SECOND, isKept: true, review: null }],
};
const SHORT = removeRange(WHOLE, { start: 10 * SECOND, end: 30 * SECOND });

usePageGlobals();

/** A video element as far as the player uses it without Media Source Extensions. */
class FakeVideo extends EventTarget {
  paused = true;
  readonly seeking = false;
  readonly readyState = 4;
  currentTime = 0;
  async play() {
    this.paused = false;
    this.dispatchEvent(new Event("play"));
  }
  pause() {
    if (this.paused) return;
    this.paused = true;
    this.dispatchEvent(new Event("pause"));
  }
  load() {}
  removeAttribute() {}
  /** Plays on to a time. */
  reach(time: number) {
    this.currentTime = time / SECOND;
    this.dispatchEvent(new Event("timeupdate"));
  }
}

const MEDIA: PlayableMedia = {
  pieceUrl: () => "",
  previewUrl: "",
  videoType: null,
  audioType: null,
  sourceTypes: { video: null, audio: null },
  isPreviewReady: true,
  isTurned: false,
  sourceLines: [],
  frameRate: null,
};

const FAKES = {
  HTMLMediaElement: { HAVE_FUTURE_DATA: 3 },
  requestAnimationFrame: () => 0,
  cancelAnimationFrame: () => {},
};
const before = Object.keys(FAKES).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
beforeAll(() => void Object.assign(globalThis, FAKES));
afterAll(() => {
  for (const [name, descriptor] of before)
    if (descriptor) Object.defineProperty(globalThis, name, descriptor);
    else Reflect.deleteProperty(globalThis, name);
});

function open(plan = WHOLE, media = MEDIA) {
  const playback = createPlayback();
  const video = new FakeVideo();
  playback.setPlan(plan);
  playback.attach(video as unknown as HTMLVideoElement, media);
  return { playback, video, player: playback.player };
}

let createPlayback: typeof import("../../../web/editor/state/playback").createPlayback;
let settings: typeof import("../../../web/editor/state/player-settings");
let createEditor: typeof import("../../../web/editor/state/editor-state").createEditor;
let stepJoin: typeof import("../../../web/editor/state/seek-actions").stepJoin;
let Scrubber: typeof import("../../../web/editor/player/scrubber").Scrubber;
beforeAll(async () => {
  ({ createPlayback } = await import("../../../web/editor/state/playback"));
  settings = await import("../../../web/editor/state/player-settings");
  ({ createEditor } = await import("../../../web/editor/state/editor-state"));
  ({ stepJoin } = await import("../../../web/editor/state/seek-actions"));
  ({ Scrubber } = await import("../../../web/editor/player/scrubber"));
});

test("after a part of another cut, the edited one plays", () => {
  for (const command of ["play", "seek", "setMode"] as const) {
    const playback = createPlayback();
    const { player } = playback;
    playback.setPlan(WHOLE);
    playback.playPart(SHORT, { start: 5 * SECOND, end: 35 * SECOND });
    expect(player.length.value).toBe(10 * SECOND);
    if (command === "seek") playback.seek(20 * SECOND);
    else if (command === "setMode") playback.setMode("source");
    else playback.play();
    expect([command, player.length.value]).toEqual([command, 40 * SECOND]);
  }
});

test("a part that is about to play shows its start", () => {
  const playback = createPlayback();
  playback.setPlan(WHOLE);
  playback.playPart(SHORT, PART);
  expect(playback.playhead.value).toBe(5 * SECOND);
  playback.playPart(SHORT, { start: 10 * SECOND, end: 35 * SECOND });
  expect(playback.playhead.value).toBe(30 * SECOND);
});

test("an edit that a part has played already is not sent again", () => {
  const playback = createPlayback();
  playback.setPlan(WHOLE);
  const range = { start: 5 * SECOND, end: 35 * SECOND };
  playback.playPart(SHORT, range);
  playback.setPlan(SHORT);
  playback.playRange(range, "cut");
  expect(playback.player.length.value).toBe(10 * SECOND);
});

const PART = { start: 5 * SECOND, end: 35 * SECOND };

test("a paused part keeps its picture and time, and Play goes on in the edited cut", () => {
  const { playback, video, player } = open(SHORT);
  // In the other cut, this time is kept.
  playback.playPart(WHOLE, PART);
  video.reach(20 * SECOND);
  playback.pause();
  expect([video.currentTime, playback.playhead.value, player.length.value]).toEqual([20, 20 * SECOND, 30 * SECOND]);
  playback.toggle();
  expect([video.paused, player.length.value]).toEqual([false, 20 * SECOND]);
  video.reach(36 * SECOND);
  expect(video.paused).toBe(false);

  // The edited cut has nothing of the range.
  const other = open(removeRange(WHOLE, { start: 4 * SECOND, end: 36 * SECOND }));
  other.playback.playPart(WHOLE, PART);
  other.video.reach(20 * SECOND);
  other.playback.pause();
  other.playback.play();
  expect([other.video.paused, other.playback.playhead.value]).toEqual([false, 36 * SECOND]);
  expect(other.video.currentTime).toBeCloseTo(36, 2);
});

test("a part that has ended makes room for the edited cut, and the mode before it returns", () => {
  const { playback, video, player } = open();
  playback.setMode("source");
  playback.playPart(SHORT, PART);
  expect(player.length.value).toBe(10 * SECOND);
  video.reach(35 * SECOND);
  expect([video.paused, player.isInRange, player.length.value]).toEqual([true, false, 40 * SECOND]);
  expect(playback.playhead.value).toBe(35 * SECOND);
  playback.play();
  expect(player.mode.value).toBe("source");
});

test("an edit during a part does not change it, and is played after that", () => {
  const { playback, video, player } = open();
  playback.playPart(SHORT, PART);
  playback.setPlan(removeRange(WHOLE, { start: 0, end: 8 * SECOND }));
  expect(player.length.value).toBe(10 * SECOND);
  video.reach(35 * SECOND);
  expect(player.length.value).toBe(32 * SECOND);
});

test("playback and mute stop a grain, whose audio may still be loading", () => {
  const { playback } = open(WHOLE, { ...MEDIA, audioType: "audio/mp4" });
  const [play, stop] = [spyOn(Scrubber.prototype, "play"), spyOn(Scrubber.prototype, "stop")];
  play.mockImplementation(() => {});
  const commands = {
    play: () => playback.play(),
    "play a range": () => playback.playRange(PART),
    "play a part": () => playback.playPart(SHORT, PART),
    "play back": () => playback.shuttle(-1),
    mute: () => (settings.isMuted.value = true),
  };
  for (const [name, command] of Object.entries(commands)) {
    playback.pause();
    playback.scrub(6 * SECOND);
    stop.mockClear();
    command();
    expect([name, stop.mock.calls.length > 0]).toEqual([name, true]);
  }
  expect(play).toHaveBeenCalledTimes(5);
  settings.isMuted.value = false;
  play.mockRestore();
  stop.mockRestore();
});

test("a mode that is chosen while a part plays in it stays after the part", () => {
  const { playback, video, player } = open();
  playback.setMode("source");
  playback.playRange(PART, "cut");
  playback.setMode("cut");
  video.reach(35 * SECOND);
  playback.play();
  expect(player.mode.value).toBe("cut");
});

test("a press in a removed span ends backward playback there", () => {
  const { playback, player } = open(SHORT);
  playback.seek(35 * SECOND);
  playback.shuttle(-1);
  expect(playback.isPlaying.value).toBe(true);
  playback.seek(20 * SECOND);
  expect([playback.isPlaying.value, playback.playhead.value]).toEqual([false, 20 * SECOND]);
  playback.play("source");
  expect(player.sourceTime.value).toBe(20 * SECOND);
});

test("the speed that is chosen applies to backward playback and after it", () => {
  const { playback } = open();
  playback.seek(35 * SECOND);
  playback.shuttle(-1);
  playback.setRate(2);
  expect([playback.isPlaying.value, playback.rate.value]).toEqual([true, 2]);
  playback.shuttle(-1);
  expect(playback.rate.value).toBe(3);
  playback.pause();
  expect(playback.rate.value).toBe(2);
});

test("with a filter, the previous join is reached during playback if another removal follows the one after it", () => {
  const toRemoved = (start: number, end: number, reason: string) => ({ start, end, reason, rule: null, confidence: 1 });
  const removed = [toRemoved(4, 5, "retake"), toRemoved(10, 14, "retake"), toRemoved(14, 16, "silence")];
  const kept = [
    [0, 4],
    [5, 10],
    [16, 40],
  ].map(([start, end]) => ({ start, end, review: null }));
  const plan = { source_duration: 40, segments: kept, removed, takes: [] };
  const { playback, video } = open(readPlan(plan as unknown as Parameters<typeof readPlan>[0]));
  const cut = { id: "cut", plan } as unknown as Parameters<typeof createEditor>[0]["cut"];
  const words = { text: [], start: [], end: [] };
  const { playhead } = playback;
  const editor = createEditor({ cut, duration: 40, words, draft: null, canWrite: true, playhead });
  editor.filter.value = "retake";
  playback.seek(18 * SECOND);
  playback.play("cut");
  const places = Array.from({ length: 4 }, () => {
    stepJoin(editor, playback, -1);
    const place = playback.playhead.value / SECOND;
    video.reach((place + 0.3) * SECOND);
    return place;
  });
  expect(places).toEqual([16, 5, 5.3, 5.6]);
});

test("a repeated range, and a cut of which nothing is left, are those of the edited plan", () => {
  const { playback, video, player } = open(SHORT);
  playback.playPart(WHOLE, PART);
  playback.setLoop({ start: 12 * SECOND, end: 14 * SECOND });
  expect([player.mode.value, player.length.value]).toEqual(["source", 2 * SECOND]);

  const { playback: empty, video: unplayed } = open(removeRange(WHOLE, { start: 0, end: 40 * SECOND }));
  empty.playPart(WHOLE, PART);
  empty.pause();
  empty.play("cut");
  expect([video.paused, unplayed.paused]).toEqual([false, true]);
});
