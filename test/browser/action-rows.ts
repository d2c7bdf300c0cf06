/**
 * What each action of the editor does, by keyboard and by pointer. The steps use only what Playwright and Puppeteer have
 * in common, so that the same rows run in Chromium and in Firefox.
 */
import { expect } from "bun:test";
import { until } from "../until";

/** In seconds. */
const PATIENCE = 30;

type Button = "left" | "right";

/** A page of either library. */
export type RowPage = {
  // biome-ignore lint/suspicious/noExplicitAny: both libraries infer the types of the function.
  evaluate(run: any, value?: any): Promise<any>;
  mouse: {
    /** Playwright reads `clickCount`, Puppeteer `count`. */
    click(x: number, y: number, options: { button: Button; clickCount: number; count: number }): Promise<void>;
    move(x: number, y: number, options?: { steps?: number }): Promise<void>;
    down(): Promise<void>;
    up(): Promise<void>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: Puppeteer lists the names of keys.
  keyboard: Record<"down" | "up" | "press", (key: any) => Promise<void>>;
};

/** What the editor shows. */
type State = {
  pill: string;
  time: string;
  isPlaying: boolean;
  mode: string;
  speed: string;
  selected: string;
  struck: string;
  popover: string;
  menu: string;
  filter: string;
  card: string;
  checked: string;
  tab: string;
  take: string;
  dialog: string;
  focus: string;
  isHiding: boolean;
  isZoomed: boolean;
};

function readState(): State {
  const text = (selector: string) => document.querySelector(selector)?.textContent?.replace(/\s+/g, " ").trim() ?? "";
  const label = (selector: string) => document.querySelector(selector)?.getAttribute("aria-label") ?? "";
  const [range] = CSS.highlights.get("transcript-selected") ?? [];
  const all = (selector: string) => [...document.querySelectorAll(selector)].map((one) => one.textContent).join(" ");
  return {
    pill: text(".feedback"),
    time: text(".source-time"),
    isPlaying: label(".transport .play-button") === "Pause",
    mode: text(".transport .segments [aria-pressed=true]"),
    speed: text(".transport .speed"),
    selected: range === undefined ? "" : String(range),
    struck: all("[aria-label=Words] s"),
    popover: label(".word-popover"),
    menu: text(".context-menu"),
    filter: text(".chip[aria-pressed=true] b"),
    card: text(".review-card h3"),
    checked: text(".review-progress h2"),
    tab: text("[role=tab][aria-selected=true]"),
    take: text(".take-choice[aria-pressed=true] b"),
    dialog: label("dialog[open]") || text("dialog[open] h2"),
    focus: document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.tagName ?? "",
    isHiding: document.querySelector(".hides-removed") !== null,
    isZoomed: document.querySelector(".timeline-overview") !== null,
  };
}

/** Finds an element by selector and the beginning of its name, and scrolls to it. */
function findBox({ selector, name }: { selector: string; name: string }) {
  const element = [...document.querySelectorAll<HTMLElement>(selector)].find(
    (one) =>
      one.checkVisibility() &&
      (one.getAttribute("aria-label") ?? one.textContent ?? "").replace(/\s+/g, " ").trim().startsWith(name),
  );
  if (!element) return null;
  element.scrollIntoView({ block: "nearest" });
  const { x, y, width, height } = element.getBoundingClientRect();
  return { x, y, width, height };
}

/** Returns the box of a word of the transcript. */
function findWord(word: string) {
  const walker = document.createTreeWalker(document.querySelector("[aria-label=Words]")!, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const at = walker.currentNode.textContent!.indexOf(word);
    if (at === -1) continue;
    const range = document.createRange();
    range.setStart(walker.currentNode, at);
    range.setEnd(walker.currentNode, at + word.length);
    const { x, y, width, height } = range.getBoundingClientRect();
    return { x, y, width, height };
  }
  return null;
}

type Box = { x: number; y: number; width: number; height: number };

export function driveRows(page: RowPage) {
  const { mouse, keyboard } = page;
  const read = (): Promise<State> => page.evaluate(readState);
  const shows = (what: string, isShown: (state: State) => boolean): Promise<unknown> =>
    until(what, async () => isShown(await read()), PATIENCE);
  const says = (text: string | RegExp) =>
    shows(`"${text}"`, ({ pill }) => (typeof text === "string" ? pill.startsWith(text) : text.test(pill)));
  /** Presses keys such as `Control+Shift+z`. */
  const press = async (...all: string[]) => {
    for (const keys of all) {
      const parts = keys.split(/\+(?=.)/);
      const last = parts.pop()!;
      const key = last === "Space" ? " " : last;
      for (const modifier of parts) await keyboard.down(modifier);
      await keyboard.press(key);
      for (const modifier of parts.reverse()) await keyboard.up(modifier);
    }
  };
  /** Waits for playback, and ends it. */
  const halt = async () => {
    await shows("playback", isPlaying);
    await press("k");
    await shows("a pause", isPaused);
  };
  const type = async (text: string) => {
    for (const character of text) await keyboard.press(character);
  };
  const locate = (selector: string, name = ""): Promise<Box> =>
    until(`${selector} ${name}`, () => page.evaluate(findBox, { selector, name }), PATIENCE);
  const pressAt = (x: number, y: number, button: Button = "left", count = 1) =>
    mouse.click(x, y, { button, clickCount: count, count });
  const click = async (selector: string, name = "", button: Button = "left") => {
    const { x, y, width, height } = await locate(selector, name);
    await pressAt(x + width / 2, y + height / 2, button);
  };
  const word = (text: string): Promise<Box> => until(`the word ${text}`, () => page.evaluate(findWord, text));
  const clickWord = async (text: string, button: Button = "left", count = 1) => {
    const { x, y, width, height } = await word(text);
    await pressAt(x + width / 2, y + height / 2, button, count);
  };
  const drag = async (from: [number, number], to: [number, number]) => {
    await mouse.move(...from);
    await mouse.down();
    await mouse.move(...to, { steps: 4 });
    await mouse.up();
  };
  /** Position of a time in the timeline, which shows the whole recording. */
  const timeline = async (seconds: number, duration = 26): Promise<[number, number]> => {
    const { x, y, width, height } = await locate(".timeline-canvas canvas");
    return [x + (seconds / duration) * width, y + height * 0.6];
  };
  /** Leaves what is open, and goes to the start. */
  const reset = async () => {
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    for (let n = 0; n < 5; n++) await press("Escape");
    if ((await read()).isPlaying) await press("k");
    await click("[role=tab]", "Transcript");
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await press("Home");
    await shows("the start", ({ time, isPlaying }) => /00:00:00:00$/.test(time) && !isPlaying);
  };
  /** Firefox does not turn keys of a test into a request for a menu. */
  const openMenuByKey = async () => {
    const isFirefox = await page.evaluate(() => navigator.userAgent.includes("Firefox"));
    if (!isFirefox) return press("Shift+F10");
    await page.evaluate(() =>
      document.activeElement!.dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true })),
    );
  };
  const focusWords = () => page.evaluate(() => document.querySelector<HTMLElement>("[aria-label=Words]")!.focus());
  return {
    page,
    halt,
    openMenuByKey,
    read,
    shows,
    says,
    press,
    type,
    click,
    clickWord,
    word,
    drag,
    pressAt,
    timeline,
    reset,
    focusWords,
    locate,
  };
}

type Drive = ReturnType<typeof driveRows>;
export type ActionRow = [name: string, run: (drive: Drive) => Promise<void>];

const isPlaying = ({ isPlaying: plays }: State) => plays;
const isPaused = (state: State) => !state.isPlaying;

/** For the cut with takes of `createStudioAsset`: "alpha", "charlie." and so on are kept, "delta" to "hotel" removed. */
export const ACTION_ROWS: readonly ActionRow[] = [
  [
    "play, pause",
    async ({ press, click, shows }) => {
      await press("Space");
      await shows("playback", isPlaying);
      await press("k");
      await shows("a pause", isPaused);
      await click(".transport .play-button");
      await shows("playback", isPlaying);
      await click(".picture video");
      await shows("a pause", isPaused);
    },
  ],
  [
    "the cut or the source",
    async ({ press, click, shows, says }) => {
      await press("c");
      await says("Playing the source");
      await shows("the source", ({ mode }) => mode === "Source");
      await click(".transport .segments button", "Cut");
      await shows("the cut", ({ mode }) => mode === "Cut");
    },
  ],
  [
    "faster, slower, back",
    async ({ press, click, shows, read, halt }) => {
      await press("l");
      await shows("playback", isPlaying);
      await press("l");
      await shows("the speed", ({ speed }) => speed === "1.5×");
      await press("k");
      await shows("the usual speed", ({ speed }) => speed === "1×");
      await press("End");
      const end = (await read()).time;
      await press("j");
      await shows("playback back", ({ time }) => time < end);
      await halt();
      await click(".transport .speed");
      await click("[role=menuitemradio]", "1.25×");
      await shows("the speed", ({ speed }) => speed === "1.25×");
      await press("l");
      await halt();
      await shows("the usual speed", ({ speed }) => speed === "1×");
    },
  ],
  [
    "a frame, a second",
    async ({ press, shows, drag, locate, timeline, read }) => {
      await press("ArrowRight");
      await shows("one frame", ({ time }) => time.endsWith("00:00:00:01"));
      await press(",");
      await shows("the start", ({ time }) => time.endsWith("00:00:00:00"));
      await press(".", "ArrowLeft", "Shift+ArrowRight");
      await shows("one second", ({ time }) => time.endsWith("00:00:01:00"));
      await press("Shift+ArrowLeft");
      const { x, y, width, height } = await locate("[role=slider]", "Playhead");
      await drag([x + width / 2, y + height / 2], [(await timeline(18))[0], y + height / 2]);
      await shows("the flag's place", ({ time }) => /00:00:1[78]:/.test(time));
      expect(isPaused(await read())).toBe(true);
    },
  ],
  [
    "the join before, after",
    async ({ press, click, says, shows, read }) => {
      await press("ArrowDown");
      await says(/^(Pause|Retake|By hand), /);
      const { time } = await read();
      await press("Backspace");
      await says(/s restored/);
      await press("Control+z");
      await click(".transport button", "Next join");
      await shows("the next join", (state) => state.time > time);
      await click(".transport button", "Previous join");
      await shows("the join before", (state) => state.time === time);
      await press("ArrowUp", "ArrowUp", "ArrowUp");
      await says("No removal before the playhead");
    },
  ],
  [
    "go to a timecode",
    async ({ press, type, click, shows }) => {
      await press("g");
      await shows("the field", ({ focus }) => focus.startsWith("Timecode") || focus.startsWith("Time"));
      await press("Control+a");
      await type("2");
      await press("Enter");
      await shows("the time", ({ time }) => !time.endsWith("00:00:00:00"));
      await click(".timecode");
      await shows("the field", ({ focus }) => focus.startsWith("Time"));
      await press("Escape");
    },
  ],
  [
    "select words",
    async ({ press, halt, focusWords, shows, clickWord, word, click, drag, timeline, pressAt, page }) => {
      await focusWords();
      await press("Shift+ArrowRight", "Shift+ArrowRight");
      await shows("two words", ({ selected }) => selected.split(" ").length === 2);
      await press("Escape");
      await shows("no selection", ({ selected }) => selected === "");
      await clickWord("charlie.", "left", 2);
      await shows(
        "the popover",
        ({ selected, popover }) => selected.trim() === "charlie." && popover === "Selected words",
      );
      for (const name of ["Correct", "Loop"])
        await until(name, () => page.evaluate(findBox, { selector: ".word-popover button", name }));
      await click(".word-popover button", "Loop");
      await halt();
      const { x, y, width, height } = await word("zulu.");
      await page.keyboard.down("Shift");
      await pressAt(x + width - 2, y + height / 2);
      await page.keyboard.up("Shift");
      await shows("more words", ({ selected }) => selected.startsWith("charlie.") && selected.endsWith("zulu."));
      await press("Escape", "Escape");
      await drag(await timeline(0.05), await timeline(1.2));
      await shows(
        "a selection in text",
        ({ selected, popover }) => selected === "alpha" && popover === "Selected words",
      );
    },
  ],
  [
    "mark in, out, clear",
    async ({ press, shows, says, drag, timeline, locate }) => {
      await press("i");
      await says("Range starts here");
      await press("Shift+ArrowRight", "o");
      await says("Range ends here");
      await shows("the word", ({ selected }) => selected === "alpha");
      const { width } = await locate(".timeline-canvas canvas");
      const [x, y] = await timeline(1);
      await drag([x, y], [x + width * 0.2, y]);
      await shows("more words", ({ selected }) => selected.length > 5);
      await press("x");
      await says("Selection cleared");
      await press("x");
      await says("Nothing is selected");
    },
  ],
  [
    "remove or restore the selection",
    async ({ press, click, clickWord, says, shows, read }) => {
      const before = (await read()).struck;
      await press("Delete");
      await says("Nothing selected. Select words first.");
      await clickWord("charlie.");
      await press("Shift+ArrowRight", "Delete");
      await says(/^1 word removed, [\d.]+ s/);
      await press("Delete");
      await says(/^1 word restored/);
      await press("Escape");
      await clickWord("charlie.", "left", 2);
      await click(".word-popover button", "Remove");
      await says(/^1 word removed/);
      await press("Control+z");
      await clickWord("charlie.", "right");
      await click("[role=menuitem]", "Remove");
      await says(/^1 word removed/);
      await click(".feedback button", "Undo");
      await shows("the text as before", ({ struck }) => struck === before);
    },
  ],
  [
    "open a removed word or a pause",
    async ({ press, click, clickWord, focusWords, shows, read, says, page }) => {
      await clickWord("delta");
      await shows("the popover", ({ popover }) => popover === "Removed words");
      for (const name of ["As cut", "With it", "Restore", "Restore all"])
        await until(name, () => page.evaluate(findBox, { selector: ".word-popover button", name }));
      await press("Escape");
      await shows("no popover", ({ popover }) => popover === "");
      await focusWords();
      await press("Enter");
      await shows("the popover", ({ popover, focus }) => popover === "Removed words" && focus !== "Words");
      await press("Escape");
      await shows("the words", ({ popover, focus }) => popover === "" && focus === "Words");
      await click("button", "Pauses");
      await click(".pause-chip");
      await shows("the pause", ({ popover }) => popover === "Pause");
      await press("Escape");
      await press("Escape", "Home");
      await focusWords();
      await press("Control+ArrowRight", "Control+ArrowRight");
      await says(/^Pause of/);
      await press("Enter");
      await shows("the field of the pause", ({ popover, focus }) => popover === "Pause" && focus === "INPUT");
      await press("Escape");
      await click("button", "Pauses");
      expect((await read()).popover).toBe("");
    },
  ],
  [
    "restore one, or all like it",
    async ({ press, click, clickWord, says, shows, read }) => {
      const before = (await read()).struck;
      await clickWord("delta");
      await press("Backspace");
      await says(/s restored/);
      await press("Control+z");
      await clickWord("delta");
      await press("Shift+Backspace");
      await says(/^\d+ retakes? restored, [\d:.]+( s)? longer/);
      await press("Control+z");
      await clickWord("delta");
      await click(".word-popover button", "Restore all");
      await says(/^\d+ retakes? restored/);
      await press("Control+z");
      await shows("the text as before", ({ struck }) => struck === before);
    },
  ],
  [
    "filter by reason",
    async ({ press, click, shows, says }) => {
      await press("Alt+3");
      await shows("the filter", ({ filter }) => filter === "Retake");
      await press("Alt+3");
      await shows("no filter", ({ filter }) => filter === "");
      await click(".chip", "Retake");
      await shows("the filter", ({ filter }) => filter === "Retake");
      await press("ArrowDown");
      await says("Retake, ");
      await click(".chips button", "Restore all");
      await says(/^\d+ retakes? restored/);
      await press("Control+z", "Escape", "Escape");
      await shows("no filter", ({ filter }) => filter === "");
    },
  ],
  [
    "hide removed words",
    async ({ press, click, shows, says }) => {
      await press("h");
      await says("Removed words are hidden");
      await click("button", "Hide removed");
      await shows("the removed words", ({ isHiding }) => !isHiding);
    },
  ],
  [
    "review: next, previous, keep, remove",
    async ({ press, click, shows, says, read }) => {
      await press("n");
      await shows("a card", ({ card, focus }) => card !== "" && focus === "H3");
      const first = (await read()).card;
      await press("n");
      await shows("the next card", ({ card }) => card !== "" && card !== first);
      await press("Shift+n");
      await shows("the card before", ({ card }) => card === first);
      await press("Enter");
      await says(/ kept/);
      await shows("a decision", ({ checked }) => checked.startsWith("1 of"));
      await press("Control+z");
      await shows("its card again", ({ card, checked }) => card === first && checked.startsWith("0 of"));
      await press("Backspace");
      await says(/ removed/);
      await press("Control+z");
      await click(".review-head button", "Next");
      await shows("the next card", ({ card }) => card !== "" && card !== first);
      await click(".review-head button", "Previous");
      await shows("the card before", ({ card }) => card === first);
      await click(".review-decisions button", "Keep");
      await says(/ kept/);
      await press("Control+z");
      await click(".review-decisions button", "Remove");
      await says(/ removed/);
      await press("Control+z", "Escape");
      await shows("no card", ({ card }) => card === "");
      await click(".result-actions button", "Review");
      await shows("a card", ({ card }) => card !== "");
      await press("Escape");
    },
  ],
  [
    "the next take, and listen",
    async ({ press, halt, click, clickWord, shows, says, read }) => {
      await clickWord("delta");
      await press("Escape", "Escape");
      await click("[role=tab]", "Takes");
      const { take } = await read();
      await press("t");
      await says(/^Now take \d of 2/);
      await shows("the other take, in place", (state) => state.take !== take && state.isPlaying);
      await halt();
      await press("t");
      await shows("the first take", (state) => state.take === take);
      await halt();
      await press("Shift+t");
      await halt();
      await click(".take-choice", take === "Take 1" ? "Take 2" : "Take 1");
      await shows("the other take, in place", (state) => state.take !== take && state.isPlaying);
      await halt();
      await press("Control+z");
      await click(".take button", "Play take 1");
      await halt();
    },
  ],
  [
    "find, replace, and remove all hits",
    async ({ press, type, click, shows, says, read }) => {
      const before = (await read()).struck;
      await press("Control+f");
      await shows("the field", ({ focus }) => focus === "Find words");
      await type("bravo");
      await press("Alt+Enter");
      await says(/^\d × “bravo” removed, [\d.]+ s shorter/);
      await click(".feedback button", "Undo");
      await shows("the text as before", ({ struck }) => struck === before);
      await click("button", "Remove all matches");
      await says(/^\d × “bravo” removed/);
      await press("Control+z", "Control+h");
      await shows("the field", ({ focus }) => focus === "Find words" || focus === "Replace with");
      await click("button", "Close the search");
      await click("button", "Find in the transcript");
      await shows("the field", ({ focus }) => focus === "Find words");
      await press("Escape");
    },
  ],
  [
    "correct words",
    async ({ press, type, click, clickWord, shows, says }) => {
      await clickWord("zulu.");
      await press("Control+ArrowRight", "F2");
      await shows("the field", ({ focus }) => focus === "INPUT" || focus === "Corrected text");
      await press("Control+a");
      await type("Alfa");
      await press("Enter");
      await says(/zulu.” is now “Alfa”/);
      await press("Control+z");
      await says(/^Undone: .* is now “Alfa”/);
      await press("Escape", "Escape");
      await clickWord("zulu.", "left", 2);
      await click(".word-popover button", "Correct");
      await shows("the field", ({ focus }) => focus === "INPUT" || focus === "Corrected text");
      await press("Escape", "Escape");
    },
  ],
  [
    "trim to the playhead",
    async ({ press, halt, says, drag, timeline, shows, read }) => {
      await press("Shift+ArrowRight", "w");
      await says("Edge moved to");
      await halt();
      await press("Control+z", "End", "q");
      await says("Edge moved to");
      await press("Control+z", "Home");
      // The join after a drag plays by itself.
      const before = (await read()).struck;
      const [x, y] = await timeline(17);
      await press("ArrowDown");
      await drag([x, y], [x + 30, y]);
      await shows("a reply", ({ pill }) => pill !== "");
      await press("Escape", "Escape", "Control+z");
      expect((await read()).struck).toBe(before);
    },
  ],
  [
    "zoom, fit",
    async ({ press, click, shows, timeline, page }) => {
      await press("=", "=");
      await shows("a part of the timeline", ({ isZoomed }) => isZoomed);
      await press("-", "Shift+z");
      await shows("the whole timeline", ({ isZoomed }) => !isZoomed);
      await click(".timeline-zoom button", "Zoom in");
      await shows("a part of the timeline", ({ isZoomed }) => isZoomed);
      await click(".timeline-zoom button", "Show the whole recording");
      await shows("the whole timeline", ({ isZoomed }) => !isZoomed);
      const [x, y] = await timeline(5);
      const wheel = (ctrlKey: boolean) =>
        page.evaluate(
          ({ ctrlKey: ctrl, clientX, clientY }: { ctrlKey: boolean; clientX: number; clientY: number }) =>
            document.querySelector(".timeline-canvas canvas")!.dispatchEvent(
              new WheelEvent("wheel", {
                deltaY: -120,
                ctrlKey: ctrl,
                clientX,
                clientY,
                bubbles: true,
                cancelable: true,
              }),
            ),
          { ctrlKey, clientX: x, clientY: y },
        );
      await wheel(false);
      await shows("the whole timeline", ({ isZoomed }) => !isZoomed);
      await wheel(true);
      await shows("a part of the timeline", ({ isZoomed }) => isZoomed);
      await press("Shift+z");
    },
  ],
  [
    "undo, redo",
    async ({ press, click, clickWord, says }) => {
      await clickWord("charlie.");
      await press("Shift+ArrowRight", "Delete");
      await says(/^1 word removed/);
      await press("Control+z");
      await says("Undone: 1 word removed");
      await press("Control+Shift+z");
      await says("Redone: 1 word removed");
      await click(".work-bar button", "Undo");
      await says("Undone: 1 word removed");
      await click(".work-bar button", "Redo");
      await says("Redone: 1 word removed");
      await press("Control+z");
    },
  ],
  [
    "the list of actions, and menus at what is pressed",
    async ({ press, click, clickWord, focusWords, shows, timeline, pressAt, openMenuByKey }) => {
      await press("Control+k");
      await shows("the list", ({ focus }) => focus !== "BODY");
      await press("Escape");
      await focusWords();
      await press("Control+ArrowRight");
      await openMenuByKey();
      await shows("the menu", ({ menu }) => menu.includes("Restore") && menu.includes("Correct"));
      await press("ArrowDown", "Escape");
      await shows("no menu", ({ menu, focus }) => menu === "" && focus === "Words");
      await clickWord("delta", "right");
      await shows("the menu", ({ menu }) => menu.includes("Restore all"));
      await press("Escape", "Escape");
      await pressAt(...(await timeline(10)), "right");
      await shows("the menu", ({ menu }) => menu.includes("Mark the start of a range"));
      await press("Escape", "Escape");
      await click("[role=tab]", "Takes");
      await click(".take-choice", "Take 1", "right");
      await shows("the menu", ({ menu }) => menu.includes("Play this take in place"));
      await press("Escape");
    },
  ],
];

/** Runs all rows on the page of a cut with takes. An error names its row. */
export async function runRows(page: RowPage): Promise<void> {
  const drive = driveRows(page);
  await drive.shows("playback to be ready", () => true);
  await until("playback to be ready", () =>
    page.evaluate(() => document.querySelector(".transport .play-button:enabled") !== null),
  );
  for (const [name, run] of ACTION_ROWS) {
    try {
      await drive.reset();
      await run(drive);
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
    }
  }
}
