/** The theme as it is stored, else that of the system. */
import { recall } from "./memory";

export type Theme = "light" | "dark";

export const THEME_KEY = "theme";
export const systemTheme = matchMedia("(prefers-color-scheme: dark)");

/** Returns what the user has chosen; null without a choice. */
export function recallTheme(): Theme | null {
  const value = recall(THEME_KEY);
  return value === "light" || value === "dark" ? value : null;
}

export const getSystemTheme = (): Theme => (systemTheme.matches ? "dark" : "light");
