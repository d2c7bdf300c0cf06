/** The card of the review, its queue and the chips, for the cut with takes of `createStudioAsset`. */
import { expect } from "bun:test";
import { isFullSize } from "../full-size";
import { type ActionRow, type Drive, isPaused, isPlaying, toSeconds } from "./action-driver";

type Span = { start: number; end: number };
type Item = Span & { kind: string };
/** An item, its position in the review of the open cut, and the range that plays with it. */
type Played = { item: Item; index: number; range: Span };

/** Returns the time after a second of kept audio, forward (1) or backward (-1). */
function walkSecond(segments: readonly Span[], time: number, direction: 1 | -1): number {
  let left = 1;
  for (const { start, end } of direction === 1 ? segments : segments.toReversed()) {
    const length = direction === 1 ? end - Math.max(start, time) : Math.min(end, time) - start;
    if (length >= left) return direction === 1 ? Math.max(start, time) + left : Math.min(end, time) - left;
    left -= Math.max(0, length);
  }
  throw new Error("The cut has no second there.");
}

/** Finds a removal of about 1 s with at least 1 s of kept audio before it. */
async function findItem(page: Drive["page"]): Promise<Played> {
  const { items, segments }: { items: Item[]; segments: Span[] } = await page.evaluate(async () => {
    const url = `/api/v1/cuts/${document.querySelector<HTMLElement>(".workspace")!.dataset.cut}`;
    const [cut, review] = await Promise.all([url, `${url}/review`].map(async (one) => (await fetch(one)).json()));
    return { items: review.items, segments: cut.plan.segments };
  });
  items.sort((a, b) => a.start - b.start || a.end - b.end);
  const isShort = ({ start, end }: Span) => end - start > 0.9 && end - start < 1.1;
  const isLate = ({ start }: Span) => start > segments[0]!.start + 1;
  const index = items.findIndex((one) => one.kind === "removal" && isLate(one) && isShort(one));
  const item = items[index]!;
  const range = { start: walkSecond(segments, item.start, -1), end: walkSecond(segments, item.end, 1) };
  return { item, index, range };
}

/** Makes a choice in the menu of the queue. Returns the number of places beside it, or null. */
async function chooseInQueue({ click, locate, shows, page }: Drive, name: string): Promise<number | null> {
  await click(".review-head .menu button");
  await locate(".queue-menu button", name);
  const count = await page.evaluate((wanted: string) => {
    const all = [...document.querySelectorAll(".queue-menu button")];
    const number = all.find(({ textContent }) => textContent?.startsWith(wanted))?.querySelector(".number");
    return number?.textContent ?? null;
  }, name);
  await click(".queue-menu button", name);
  // Until then, the menu would close again.
  await shows("the focus on the card", ({ focus }) => focus === "H3");
  return count === null ? null : Number(count);
}

/** Maximum difference of a displayed time, in seconds: it is rounded down to a frame. */
const ROUNDING = 0.05;

/**
 * Fails unless a card has played from before its item, with it or without it. A busy page may miss the first frames,
 * and the first one may still show the time of the last pause.
 */
function expectPlayed(times: number[], { item, range }: Played, isWith: boolean): void {
  const first = Math.min(...times.filter((time) => time > range.start - ROUNDING));
  const hasItem = times.some((time) => time > item.start + ROUNDING && time < item.end - ROUNDING);
  const played = `${first} of ${JSON.stringify(range)}`;
  expect([played, first < item.start, hasItem]).toEqual([played, true, isWith]);
}

/** Turns the playback of opened cards off or on. The menu stays open until Escape. */
async function turnPlaying({ click, press, isShown }: Drive): Promise<void> {
  await click(".review-head .menu button");
  await click(".queue-menu button", "Play each place when it opens");
  await press("Escape");
  await isShown(".queue-menu", false);
}

export const REVIEW_ROWS: readonly ActionRow[] = [
  [
    "review: a card plays by itself, with it and without it",
    async (drive) => {
      const { press, click, shows, read, halt, playToEnd, resetStarts, page } = drive;
      const played = await findItem(page);
      await press("n");
      await shows("a card", ({ card }) => card !== "");
      await chooseInQueue(drive, "Every removal");
      await turnPlaying(drive);
      await press("Escape", "Escape");
      await shows("a pause", isPaused);
      await press("Home");
      await shows("the start", ({ time }) => toSeconds(time) === 0);
      const { starts } = await read();
      for (let at = 0; at <= played.index; at++) await press("n");
      // It opens at its place, and does not play.
      await shows("its place", ({ card, time }) => card !== "" && Math.abs(toSeconds(time) - played.item.start) < 0.1);

      // The next card plays, and so does this one when it is opened again.
      await turnPlaying(drive);
      expect((await read()).starts).toBe(starts);
      await press("n");
      await shows("playback", (state) => state.starts > starts && isPlaying(state));
      await press("Space");
      await shows("a pause", isPaused);
      await resetStarts();
      await press("Shift+n");
      const playsAll = async (version: "With it" | "Without it") => {
        expectPlayed(await playToEnd(), played, version === "With it");
        await shows(`the end, ${version}`, ({ time, pressed }) => {
          const isAtEnd = Math.abs(toSeconds(time) - played.range.end) < ROUNDING;
          return isAtEnd && pressed.includes(version);
        });
      };
      // Playing to the end takes as long as the audio, so only full size does it again for every button.
      const playsAgain = async (version: "With it" | "Without it") => {
        if (isFullSize) return playsAll(version);
        await shows(`playback, ${version}`, (state) => isPlaying(state) && state.pressed.includes(version));
        await halt();
      };
      await playsAll("Without it");
      await press("c");
      await playsAll("With it");
      await press("Space");
      await playsAgain("With it");
      await click(".review-versions button", "Without it");
      await playsAgain("Without it");
      await click(".review-versions button", "With it");
      await playsAgain("With it");
      await chooseInQueue(drive, "Worth a listen");
      await press("Escape");
    },
  ],
  [
    "review: the queue shows what its menu says",
    async (drive) => {
      const { press, shows, page } = drive;
      await press("n");
      // The menu closes when the card gets the focus.
      await shows("a card with the focus", ({ card, focus }) => card !== "" && focus === "H3");
      const seen = new Set<number>();
      for (const [choice, name] of [
        ["Every removal", "Show: Every removal"],
        ["Unsure only", "Show: Unsure"],
        ["Worth a listen", "Show: All"],
        ["Retake", "Show: Retake"],
        ["All reasons", "Show: All"],
        ["3 s and longer", "Show: All, filtered"],
        ["Any length", "Show: All"],
      ] as const) {
        const count = await chooseInQueue(drive, choice);
        await shows(name, ({ queue }) => queue === name);
        if (count === null) continue;
        await shows(
          `${count} places`,
          ({ checked }) => checked === (count === 0 ? "To review" : `0 of ${count} checked`),
        );
        seen.add(count);
      }
      expect(seen.size).toBe(2);

      // By keyboard. Enter belongs to the menu, and decides nothing.
      await page.evaluate(() => document.querySelector<HTMLElement>(".review-head .menu button")!.focus());
      await press("Enter", "Tab", "Tab", "Tab", "Enter");
      await shows("every removal", ({ queue }) => queue === "Show: Every removal");
      await shows(
        "the card",
        ({ card, checked, focus }) => card !== "" && checked.startsWith("0 of") && focus === "H3",
      );
      await chooseInQueue(drive, "Worth a listen");
      await press("Escape");
    },
  ],
  [
    "each reason, and pauses longer than a limit",
    async ({ press, click, shows, says, read, type, page }) => {
      const { kept } = await read();
      const names = ["Pause", "Filler", "Retake", "Off script", "Noise", "By hand"];
      const isShown = (name: string): Promise<boolean> =>
        page.evaluate(
          (wanted: string) =>
            [...document.querySelectorAll(".chip b")].some(({ textContent }) => textContent === wanted),
          name,
        );
      const none = { Filler: "No fillers", "Off script": "No parts off script", Noise: "No noises" } as const;
      for (const [index, name] of names.entries()) {
        await press(`Alt+${index + 1}`);
        if (await isShown(name)) {
          await shows(name, ({ filter }) => filter === name);
          await press(`Alt+${index + 1}`);
        } else await says(none[name as keyof typeof none] ?? "No removals by hand");
        await shows("no filter", ({ filter }) => filter === "");
      }

      await click(".chip", "Pause");
      await shows("the pauses", ({ filter }) => filter === "Pause");
      await click(".pause-limit input");
      await press("Control+a");
      await type("0.1");
      await click(".pause-limit button", "Remove only these");
      await says(/^Only [1-9]\d* pauses longer than 0.1 s removed/);
      await click(".pause-limit input");
      await press("Control+a");
      await type("9");
      await press("Enter");
      await says(/^No pause is longer than 9 s: all pauses kept, [\d.]+ s longer/);
      await shows("a longer cut", (state) => state.kept !== kept);
      await click(".chips button", "Remove all again");
      await says(/^[1-9]\d* pauses removed, [\d.]+ s shorter/);
      await shows("the cut as before", (state) => state.kept === kept);
      await press("Escape");
      await shows("no filter", ({ filter }) => filter === "");
    },
  ],
];
