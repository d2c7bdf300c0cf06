/** Maps paths to pages. All pages except the list of projects are loaded when they are first opened. */
import type { FunctionComponent } from "preact";
import NotFoundPage from "../pages/not-found";
import { ProjectsPage } from "../pages/projects/projects-page";
import { type LazyPage, lazyPage, withEditorStyle } from "./lazy-page";
import { ADMIN_PAGE_MODULES, PAGE_MODULES } from "./page-modules";
import { OPEN_PATHS, PLAIN_PATHS, SHELL_PATHS } from "./paths";
import { isAdmin } from "./session";

type Path = (typeof OPEN_PATHS | typeof PLAIN_PATHS | typeof SHELL_PATHS)[number];

const mapValues = <Key extends string, From, To>(table: Record<Key, From>, map: (value: From) => To): Record<Key, To> =>
  Object.fromEntries(Object.entries<From>(table).map(([key, value]) => [key, map(value)])) as Record<Key, To>;

const lazyPages = mapValues(PAGE_MODULES, lazyPage);
const PAGES: Record<Path, FunctionComponent> = {
  "/": ProjectsPage,
  "/projects": ProjectsPage,
  ...lazyPages,
  "/assets/:assetId": lazyPage(withEditorStyle(PAGE_MODULES["/assets/:assetId"])),
  ...mapValues(ADMIN_PAGE_MODULES, adminPage),
};
const pick = (paths: readonly Path[]) => Object.fromEntries(paths.map((path) => [path, PAGES[path]]));

export const OPEN_PAGES = pick(OPEN_PATHS);
export const PLAIN_PAGES = pick(PLAIN_PATHS);
export const SHELL_PAGES = pick(SHELL_PATHS);

/** Preloads the page of a path while the session is loading. Administration pages wait for the session. */
export function preloadPage(path: string): void {
  const segments = path.replace(/\/$/, "").split("/");
  const isMatch = (pattern: string) => {
    const parts = pattern.split("/");
    return parts.length === segments.length && parts.every((part, n) => part === segments[n] || part.startsWith(":"));
  };
  const found = Object.entries(PAGES).find(([pattern]) => isMatch(pattern));
  if (found !== undefined && "preload" in found[1]) void (found[1] as LazyPage).preload();
}

export const NotFound = lazyPage(() => import("../pages/not-found"));
export const PasswordDialog = lazyPage(() => import("../shell/password-dialog"));

/** Returns a page that is loaded when an administrator first opens it. Other users see "Page not found". */
function adminPage(load: Parameters<typeof lazyPage>[0]): FunctionComponent {
  const Page = lazyPage(load);
  return () => (isAdmin.value ? <Page /> : <NotFoundPage />);
}
