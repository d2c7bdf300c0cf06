/**
 * A real browser: the states of the editor, and each row of its table of actions, by keyboard and by pointer. Firefox
 * does the same.
 */
import { expect, test } from "bun:test";
import { isFullSize } from "../full-size";
import { video } from "../http/media";
import { driveRows, isPaused, isPlaying } from "./action-driver";
import { PLAY_ROWS } from "./action-play-rows";
import { ROWS, runRows } from "./action-rows";
import { useDashboard } from "./dashboard";
import { expectAccessibleStates, expectStillStates } from "./editor-states";
import { saveScreenshots } from "./screenshots";
import { openStudio } from "./studio";

const dashboard = useDashboard();
const { expectFailures, open, server } = dashboard;

test("each action of the editor has the effect in its row, by keyboard and by pointer", async () => {
  await runRows(await openStudio(dashboard), ROWS);
});

test("each control of playback has its effect on a video, by keyboard and by pointer", async () => {
  expectFailures(503);
  const user = await server().user();
  const { id } = await user.ready(await video(26));
  await user.cutEnded((await user.startCut({ asset_id: id })).id);
  const page = await open(`/assets/${id}`, user, { viewport: { width: 1360, height: 850 } });
  await page.getByRole("button", { name: "Play the cut" }).waitFor();
  await runRows(page, PLAY_ROWS);
});

test("axe-core finds nothing in the states of the editor", async () => {
  await expectAccessibleStates(await openStudio(dashboard));
});

test.if(isFullSize)("at 400% zoom nothing scrolls sideways, and with reduced motion nothing moves", async () => {
  // A window of 1280 by 1024 pixels.
  await expectStillStates(
    await openStudio(dashboard, { viewport: { width: 320, height: 256 }, reducedMotion: "reduce" }),
  );
});

test("without single letters as shortcuts, the other keys still work", async () => {
  const page = await openStudio(dashboard);
  const { shows, says, press, read, reset, click } = driveRows(page);
  const turn = async () => {
    await press("?");
    await page.getByRole("checkbox", { name: "Single letters work as shortcuts" }).focus();
    await press("Space", "Escape");
    await shows("no dialog", ({ dialog }) => dialog === "");
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  };
  const playsSource = async () => {
    await press("c");
    await says("Playing the source");
  };
  await turn();
  await page.reload();
  await page.locator(".transport .play-button:enabled").waitFor();
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  const before = await read();
  await press("c", "p", "n", "h", "m", "Shift+n", "l");
  // A later key has an effect, and none of the letters had one.
  await press("ArrowDown");
  await says(/^(Pause|Retake), /);
  const { pill, time, ...after } = await read();
  expect({ ...after, pill: before.pill, time: before.time }).toEqual(before);
  await press("Space");
  await shows("playback", isPlaying);
  await press("Space");
  await shows("a pause", isPaused);
  await press("Control+f");
  await shows("the search", ({ focus }) => focus === "Find words");
  await reset();
  await turn();
  await playsSource();
  await click(".transport .segments button", "Cut");
});

test("with the colors of the system, struck lines, selected states and the playhead remain", async () => {
  const page = await openStudio(dashboard, { forcedColors: "active" });
  const word = page.locator(".transcript-text s").first();
  await word.waitFor();
  await page.locator(".chip").first().click();
  const read = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => {
        const { textDecorationLine, textDecorationStyle, backgroundColor } = getComputedStyle(element);
        return { line: `${textDecorationLine} ${textDecorationStyle}`, backgroundColor };
      });
  expect((await read(".transcript-text s.retake")).line).toBe("line-through double");
  for (const [chosen, other] of [
    [".chip[aria-pressed=true]", ".chip[aria-pressed=false]"],
    ["[role=tab][aria-selected=true]", "[role=tab][aria-selected=false]"],
    [".transport .segments [aria-pressed=true]", ".transport .segments [aria-pressed=false]"],
    [".rail [aria-current=page]", ".rail a:not([aria-current])"],
  ] as const) {
    const [one, two] = [await read(chosen), await read(other)];
    expect([chosen, one.backgroundColor]).not.toEqual([chosen, two.backgroundColor]);
  }
  const playheads = await page.locator(".timeline-canvas > .timeline-playhead").evaluate((element) => {
    const wanted = document.createElement("i");
    wanted.style.cssText = "color: var(--playhead); forced-color-adjust: none";
    element.append(wanted);
    return [getComputedStyle(element).backgroundColor, getComputedStyle(wanted).color];
  });
  expect(playheads[0]).toBe(playheads[1]!);
  await saveScreenshots(page);
});
