/** The navigation of the shell: the entries of the rail, which the palette also lists. */
import { signal } from "@preact/signals";
import { isAdmin, isBilled } from "../app/session";
import type { IconName } from "../ui/icon";

/** Whether the palette is shown. */
export const isPaletteOpen = signal(false);
/** Text typed before the palette was loaded. */
export const typedBefore = signal("");

type NavigationEntry = {
  href: string;
  label: string;
  icon: IconName;
  /** Prefixes of the paths that belong to the entry. */
  paths: readonly string[];
  /** Returns whether this user sees the entry. Reads signals. By default, everyone does. */
  isShown?(): boolean;
};

export const NAVIGATION: readonly NavigationEntry[] = [
  { href: "/projects", label: "Projects", icon: "projects", paths: ["/projects", "/assets"] },
  { href: "/jobs", label: "Jobs", icon: "jobs", paths: ["/jobs"] },
  {
    href: "/credits",
    label: "Credits",
    icon: "credits",
    paths: ["/credits", "/orders"],
    isShown: () => isBilled.value,
  },
  { href: "/keys", label: "API keys", icon: "key", paths: ["/keys"] },
  { href: "/webhooks", label: "Webhooks", icon: "webhook", paths: ["/webhooks"] },
  { href: "/admin/users", label: "Administration", icon: "admin", paths: ["/admin"], isShown: () => isAdmin.value },
];

/** Returns the entry to which the path belongs. */
export const findEntry = (path: string): NavigationEntry | undefined =>
  path === "/"
    ? NAVIGATION[0]
    : NAVIGATION.find(({ paths }) => paths.some((start) => path === start || path.startsWith(`${start}/`)));
