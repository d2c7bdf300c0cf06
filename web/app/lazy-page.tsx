/** Pages that are loaded when they are first opened. */
import type { FunctionComponent } from "preact";
import { lazy } from "preact-iso";
import type { StyleName } from "./page-modules";

/** `preload` loads the page before it is shown. */
export type LazyPage = FunctionComponent & { preload(): Promise<unknown> };

type Module = { default: FunctionComponent };

const KEY = "offcut.reloaded-at";
/** A second failure within this time is not caused by an update of the server. */
const RELOAD_MS = 60_000;

/**
 * Returns a component that is loaded when it is first shown. After an update of the server, the files of the open page
 * no longer exist, so a failed load reloads the page once. If that does not help, the page fails with the error.
 */
export const lazyPage = (load: () => Promise<Module>): LazyPage =>
  lazy(() =>
    load().catch((error: unknown): Module | Promise<never> => {
      if (reloadOnce()) return new Promise<never>(() => {});
      return {
        default: () => {
          throw error;
        },
      };
    }),
  );

function reloadOnce(): boolean {
  try {
    if (Date.now() - Number(sessionStorage.getItem(KEY)) < RELOAD_MS) return false;
    sessionStorage.setItem(KEY, String(Date.now()));
  } catch {
    // Without storage, a previous attempt cannot be detected.
    return false;
  }
  location.reload();
  return true;
}

/** Adds the styles that only what is loaded needs. The page names their files. */
export const withStyle = (name: StyleName, load: () => Promise<Module>) => async (): Promise<Module> => {
  const [page] = await Promise.all([load(), loadStyle(name)]);
  return page;
};

const loadStyle = (name: StyleName): Promise<void> =>
  new Promise((resolve, reject) => {
    if (document.querySelector(`link[data-style="${name}"]`) !== null) return resolve();
    const link = document.createElement("link");
    link.dataset.style = name;
    link.rel = "stylesheet";
    link.href = document.querySelector<HTMLMetaElement>(`meta[name="${name}-style"]`)!.content;
    link.addEventListener("load", () => resolve());
    link.addEventListener("error", () => {
      link.remove();
      reject(new Error("The styles were not loaded."));
    });
    document.head.append(link);
  });
