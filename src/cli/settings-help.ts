/** The settings section of `offcut serve --help`. */
import { SETTINGS } from "../config/settings";

/** Only `offcut worker` reads them. */
const WORKER_SETTINGS = ["head", "token", "redis", "jobs", "slots", "cache_bytes"];

/** Returns a line for each server setting: its flag, its description and its default on this machine. */
export function formatSettingsHelp(): string {
  const settings = Object.entries(SETTINGS).filter(([key]) => !WORKER_SETTINGS.includes(key));
  const width = Math.max(...settings.map(([key]) => key.length));
  const lines = settings.map(([key, setting]) => {
    const value = setting.default();
    const isShown = value !== null && !Array.isArray(value);
    return `  --${key.replaceAll("_", "-").padEnd(width)}  ${setting.about}${isShown ? ` (default ${value})` : ""}`;
  });
  return `${lines.join("\n")}\n`;
}
