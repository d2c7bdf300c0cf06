/** What the player has to play: the edited cut, or a part of another one. */
import { beforeAll, expect, test } from "bun:test";
import { type EditorPlan, removeRange } from "../../../web/editor/model/plan";
import { usePageGlobals } from "./page-globals";

const SECOND = 1_000_000;
const WHOLE: EditorPlan = {
  duration: 40 * SECOND,
  spans: [{ start: 0, end: 40 * SECOND, isKept: true, review: null }],
};
const SHORT = removeRange(WHOLE, { start: 10 * SECOND, end: 30 * SECOND });

usePageGlobals();
let createPlayback: typeof import("../../../web/editor/state/playback").createPlayback;
beforeAll(async () => ({ createPlayback } = await import("../../../web/editor/state/playback")));

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
    const expected = command === "play" ? 30 * SECOND : 40 * SECOND;
    expect([command, player.length.value]).toEqual([command, expected]);
  }
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
