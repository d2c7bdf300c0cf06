/** Moves the focus to the heading of the page, when what had it has disappeared. */
export const focusHeading = (): void => document.querySelector<HTMLElement>("main h1")?.focus();
