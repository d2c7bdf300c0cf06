/** The keyboard as the only way: moves the focus as a person does, and fails where Tab does not lead. */
import type { Page } from "playwright-core";

const MAX_TABS = 120;

/** Returns the name of the focused element, approximately as assistive technology reads it. */
export const readFocus = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement as HTMLInputElement;
    const label = element.labels?.[0]?.cloneNode(true) as HTMLElement | undefined;
    // A control inside its label is not part of the name.
    for (const control of label?.querySelectorAll("select, input") ?? []) control.remove();
    return (element.getAttribute("aria-label") ?? (label ?? element).textContent ?? "").replace(/\s+/g, " ").trim();
  });

/** Presses Tab until something with this name has the focus. */
export async function tabTo(page: Page, name: string | RegExp, key = "Tab"): Promise<void> {
  const seen: string[] = [];
  for (let tabs = 0; tabs < MAX_TABS; tabs++) {
    await page.keyboard.press(key);
    const focus = await readFocus(page);
    if (typeof name === "string" ? focus === name : name.test(focus)) return;
    seen.push(focus.slice(0, 30));
  }
  throw new Error(`Tab does not lead to ${name}, but to: ${seen.join(" | ")}`);
}

/** Moves to a control and presses it. */
export async function press(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press("Enter");
}
