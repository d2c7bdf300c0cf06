/** The theme: the user's choice, or the system's theme. */
import { effect, signal } from "@preact/signals";
import { remember } from "./memory";
import { getSystemTheme, recallTheme, systemTheme as system, THEME_KEY, type Theme } from "./stored-theme";

const chosen = signal<Theme | null>(recallTheme());
const systemTheme = signal<Theme>(getSystemTheme());
system.addEventListener("change", () => {
  systemTheme.value = getSystemTheme();
});

export const getTheme = (): Theme => chosen.value ?? systemTheme.value;

/** Sets the theme on the document whenever it changes. */
export const applyTheme = (): (() => void) =>
  effect(() => {
    document.documentElement.dataset.theme = getTheme();
  });

export function toggleTheme(): void {
  const next: Theme = getTheme() === "dark" ? "light" : "dark";
  chosen.value = next;
  remember(THEME_KEY, next);
}
