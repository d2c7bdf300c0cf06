/** The entries of the side bar and of the rail, its form in the editor. Settings are in `settings-pages.ts`. */
import { signal } from "@preact/signals";
import type { IconName } from "../ui/icon";

/** Whether the palette is shown. */
export const isPaletteOpen = signal(false);
/** Text typed before the palette was loaded. */
export const typedBefore = signal("");

type NavigationEntry = { href: string; label: string; icon: IconName; paths: RegExp };

/** `paths`: matches the paths of the pages that belong to the entry. */
export const NAVIGATION: readonly NavigationEntry[] = [
  { href: "/projects", label: "Projects", icon: "projects", paths: /^\/(projects\b|assets\b|$)/ },
  { href: "/jobs", label: "Jobs", icon: "jobs", paths: /^\/jobs\b/ },
];

export const SETTINGS: NavigationEntry = {
  href: "/settings",
  label: "Settings",
  icon: "sliders",
  paths: /^\/(settings|account|workspaces|credits|orders|keys|webhooks|admin|status)\b/,
};
