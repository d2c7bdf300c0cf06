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
    tab: text("[role=tab][aria-selected=true]"),
    take: text(".take-choice[aria-pressed=true] b"),
    dialog: label("dialog[open]") || text("dialog[open] h2"),
    focus: document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.tagName ?? "",
    isHiding: document.querySelector(".hides-removed") !== null,
    isZoomed: document.querySelector(".timeline-overview") !== null,
  };
}

/** Counts in the page how often playback starts. */
export function countStarts(): void {
  const root = document.documentElement;
  const button = document.querySelector(".transport .play-button")!;
  const count = () => {
    if (button.getAttribute("aria-label") === "Pause")
      root.dataset.starts = String(Number(root.dataset.starts ?? 0) + 1);
  };
  new MutationObserver(count).observe(button, { attributeFilter: ["aria-label"] });
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
    known = (await read()).starts;
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

export type Drive = ReturnType<typeof driveRows>;
export type ActionRow = [name: string, run: (drive: Drive) => Promise<void>];

export const isPlaying = ({ isPlaying: plays }: State): boolean => plays;
export const isPaused = (state: State): boolean => !state.isPlaying;
