/** The pages that the navigation and the command palette list, in order. */
import { isAdmin } from "../app/session";
import type { IconName } from "../ui/icon";

export type NavigationEntry = {
  href: string;
  label: string;
  icon: IconName;
  /** Beginnings of the paths that belong to it. */
  paths: readonly string[];
  /** Whether this user sees it. Reads signals. Default: everybody. */
  isShown?(): boolean;
};

export const NAVIGATION: readonly NavigationEntry[] = [
  { href: "/projects", label: "Projects", icon: "projects", paths: ["/projects", "/assets"] },
  { href: "/jobs", label: "Jobs", icon: "jobs", paths: ["/jobs"] },
  { href: "/credits", label: "Credits", icon: "credits", paths: ["/credits", "/orders"] },
  { href: "/keys", label: "API keys", icon: "key", paths: ["/keys"] },
  { href: "/webhooks", label: "Webhooks", icon: "webhook", paths: ["/webhooks"] },
  { href: "/admin/users", label: "Administration", icon: "admin", paths: ["/admin"], isShown: () => isAdmin.value },
];

/** Returns the entry that the path belongs to. */
export const findEntry = (path: string): NavigationEntry | undefined =>
  path === "/"
    ? NAVIGATION[0]
    : NAVIGATION.find(({ paths }) => paths.some((start) => path === start || path.startsWith(`${start}/`)));
