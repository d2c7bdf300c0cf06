/** Moves the focus to the page's heading when the focused element has disappeared. */
export const focusHeading = (): void => document.querySelector<HTMLElement>("main h1")?.focus();
