/**
 * Chromium for tests: its headless shell, which needs a third of the processor time; the whole browser with
 * `OFFCUT_FULL=1`.
 */
import { type Browser, chromium } from "playwright-core";
import { isFullSize } from "./full-size";

const WHOLE = "chromium";
const SHELL = "chromium-headless-shell";

/**
 * At the size of CI, a page keeps its frame when it opens another address of its site, which takes a sixth less
 * processor time. Chromium reads only the last list of features: the first one is Playwright's.
 */
const KEEP_FRAME = "--enable-features=CDPScreenshotNewSurface,RenderDocument:level/crashed-frame";

/** Flags for all tests: no sandbox, because they run as root, and no requests to other hosts. */
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic"];

/** Starts the browser. `isWhole`: the browser that people use, also at the size of CI. */
export function launchChromium(flags: string[] = [], isWhole = isFullSize): Promise<Browser> {
  const programs = isWhole ? [WHOLE, SHELL] : [SHELL, WHOLE];
  const [executablePath] = programs.flatMap((name) => Bun.which(name, { PATH: `${process.env.PATH}:/usr/bin` }) ?? []);
  if (executablePath === undefined) throw new Error(`Neither ${programs.join(" nor ")} is installed.`);
  return chromium.launch({ executablePath, args: [...FLAGS, ...(isWhole ? [] : [KEEP_FRAME]), ...flags] });
}

const shared = new Map<string, Promise<Browser>>();

/**
 * Returns the browser with these flags that the test files of this process share. It ends with the process; each test
 * has its own contexts.
 */
export function shareChromium(flags: string[], isWhole = isFullSize): Promise<Browser> {
  const key = JSON.stringify([flags, isWhole]);
  const browser = shared.get(key) ?? launchChromium(flags, isWhole);
  shared.set(key, browser);
  return browser;
}
