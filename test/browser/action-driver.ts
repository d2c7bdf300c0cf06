/** Operates the editor with the common API of Playwright and Puppeteer, and reads its state. */
import { until } from "../until";

/** Maximum waiting time in seconds. */
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

/** The displayed state of the editor. */
type State = {
  pill: string;
  time: string;
  isPlaying: boolean;
  /** Number of times that playback has started, however briefly. */
  starts: number;
  mode: string;
  speed: string;
  selected: string;
  struck: string;
  popover: string;
  menu: string;
  filter: string;
  card: string;
  checked: string;
  /** The name of the menu of the queue. */
  queue: string;
  tab: string;
  take: string;
  /** Names of the pressed buttons of playback and of the card. */
  pressed: string[];
  /** Durations of the recording and of the cut. */
  result: string;
  /** Duration of the cut as a timecode, in a sentence. */
  kept: string;
  /** The open version. `isDraft`: it has edits that are stored, but not saved. */
  version: string;
  cutId: string;
  saved: string;
  isDraft: boolean;
  dialog: string;
  /** The listed actions of the search. */
  options: string;
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
    starts: Number(document.documentElement.dataset.starts ?? 0),
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
    queue: label(".review-head .menu button"),
    tab: text("[role=tab][aria-selected=true]"),
    take: text(".take:has(:checked) b"),
    pressed: [
      ...document.querySelectorAll(":is(.transport, .picture-tools, .review-versions) button[aria-pressed=true]"),
    ].map((one) => one.getAttribute("aria-label") ?? one.textContent ?? ""),
    result: text(".result-times"),
    kept: document.querySelector(".transport .timecode")?.getAttribute("title") ?? "",
    version: label(".cut-name"),
    cutId: document.querySelector<HTMLElement>(".workspace")?.dataset.cut ?? "",
    saved: text(".save-state"),
    isDraft: document.querySelector(".save-state [data-draft]") !== null,
    dialog: label("dialog[open]") || text("dialog[open] h2"),
    options: all("dialog [role=option]"),
    focus: document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.tagName ?? "",
    isHiding: document.querySelector(".hides-removed") !== null,
    isZoomed: document.querySelector(".timeline-overview") !== null,
  };
}

/** Counts in the page how often playback starts, and collects the times of the recording that play from then on. */
export function countStarts(): void {
  const root = document.documentElement;
  const button = document.querySelector(".transport .play-button")!;
  const isPlaying = () => button.getAttribute("aria-label") === "Pause";
  const count = () => {
    if (!isPlaying()) return;
    root.dataset.starts = String(Number(root.dataset.starts ?? 0) + 1);
    Object.assign(window, { playedTimes: [] });
  };
  new MutationObserver(count).observe(button, { attributeFilter: ["aria-label"] });
  const collect = () => {
    if (isPlaying() && "playedTimes" in window)
      (window.playedTimes as string[]).push(document.querySelector(".source-time")?.textContent ?? "");
  };
  const times = { subtree: true, childList: true, characterData: true };
  new MutationObserver(collect).observe(document.querySelector(".transport")!, times);
}

/** Finds an element by selector and the beginning of its name, and scrolls to it. */
export function findBox({ selector, name }: { selector: string; name: string }) {
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

/** Frames per second in the timecode of a recording without video. */
const AUDIO_RATE = 25;

/** Converts the timecode of a recording without video. */
export const toSeconds = (text: string): number => {
  const [hours, minutes, seconds, frames] = text.match(/\d+/g)!.map(Number);
  return hours! * 3600 + minutes! * 60 + seconds! + frames! / AUDIO_RATE;
};

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
  const says = async (text: string | RegExp) => {
    let said = "";
    const isSaid = ({ pill }: State) => {
      said = pill || said;
      return typeof text === "string" ? pill.startsWith(text) : text.test(pill);
    };
    await shows(`"${text}"`, isSaid).catch((error: Error) => {
      throw new Error(`${error.message}; said: "${said}"`);
    });
  };
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
  let known = 0;
  /** Waits until playback has started since the last time, and ends it. */
  const halt = async () => {
    await shows("playback", ({ starts }) => starts > known);
    // It may end by itself at any time, and then the key would start it.
    while ((await read()).isPlaying) {
      await press("k");
      await Bun.sleep(50);
    }
    known = (await read()).starts;
  };
  /** Ignores playback up to now. */
  const resetStarts = async () => {
    known = (await read()).starts;
  };
  /** Waits until playback has started since the last time, and has ended by itself. Returns the seconds that played. */
  const playToEnd = async (): Promise<number[]> => {
    await shows("playback", ({ starts, isPlaying: plays }) => starts > known && !plays);
    known = (await read()).starts;
    const times: string[] = await page.evaluate(() => (window as unknown as { playedTimes: string[] }).playedTimes);
    return times.map(toSeconds);
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
  /** Closes open parts, and goes to the start. */
  const reset = async () => {
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    for (let n = 0; n < 5; n++) await press("Escape");
    await click("[role=tab]", "Transcript");
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    // A join that was about to play may start in the meantime.
    await until(
      "the start",
      async () => {
        const { isPlaying: plays, time } = await read();
        if (plays) await press("k");
        else if (!time.endsWith("00:00:00:00")) await press("Home");
        else return true;
        await Bun.sleep(100);
        return false;
      },
      PATIENCE,
    );
    await resetStarts();
  };
  /** Firefox does not turn keys of a test into a request for a menu. */
  const openMenuByKey = async () => {
    const isFirefox = await page.evaluate(() => navigator.userAgent.includes("Firefox"));
    if (!isFirefox) return press("Shift+F10");
    await page.evaluate(() =>
      document.activeElement!.dispatchEvent(new MouseEvent("contextmenu", { bubbles: true, cancelable: true })),
    );
  };
  const isShown = (selector: string, isWanted: boolean) =>
    until(`${selector}: ${isWanted}`, async () => {
      const isThere: boolean = await page.evaluate((one: string) => document.querySelector(one) !== null, selector);
      return isThere === isWanted;
    });
  const focus = (selector: string) =>
    page.evaluate((one: string) => document.querySelector<HTMLElement>(one)!.focus(), selector);
  const focusWords = () => page.evaluate(() => document.querySelector<HTMLElement>("[aria-label=Words]")!.focus());
  return {
    page,
    halt,
    playToEnd,
    resetStarts,
    isShown,
    focus,
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

export type Drive = ReturnType<typeof driveRows>;
export type ActionRow = [name: string, run: (drive: Drive) => Promise<void>];

export const isPlaying = ({ isPlaying: plays }: State): boolean => plays;
export const isPaused = (state: State): boolean => !state.isPlaying;
