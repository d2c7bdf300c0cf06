/** The stored theme, or the system's theme if none is stored. */
import { recall } from "./memory";

export type Theme = "light" | "dark";

export const THEME_KEY = "theme";
export const systemTheme = matchMedia("(prefers-color-scheme: dark)");

/** Returns the theme that the user has chosen, or null. */
export function recallTheme(): Theme | null {
  const value = recall(THEME_KEY);
  return value === "light" || value === "dark" ? value : null;
}

export const getSystemTheme = (): Theme => (systemTheme.matches ? "dark" : "light");
