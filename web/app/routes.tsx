/**
 * Shows the page of a path, which may be loaded when it is first opened, and an error page in place of one that fails.
 */
import { Component, type ComponentChildren, type FunctionComponent } from "preact";
import { lazy, Route, Router, useLocation } from "preact-iso";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { NotFoundPage } from "../ui/page";
import { isLoadFailure } from "./api";
import type { StyleName } from "./page-modules";
import { decodeText } from "./use-query";

/** The pages of some paths. */
type PageTable = Record<string, FunctionComponent>;

export function Routes({ pages }: { pages: PageTable }) {
  // The router throws on a path parameter that it cannot decode.
  const isDecodable = decodeText(useLocation().path) !== null;
  return (
    <Router>
      {Object.entries(isDecodable ? pages : {}).map(([path, component]) => (
        <Route key={path} path={path} component={component} />
      ))}
      <Route default component={NotFoundPage} />
    </Router>
  );
}

/** Preloads the page of a path, which may be followed by a slash. */
export function preloadPage(pages: PageTable, path: string): void {
  const segments = path.replace(/\/$/, "").split("/");
  const isMatch = (pattern: string) => {
    const parts = pattern.split("/");
    return parts.length === segments.length && parts.every((part, n) => part === segments[n] || part.startsWith(":"));
  };
  const found = Object.entries(pages).find(([pattern]) => isMatch(pattern));
  if (found !== undefined && "preload" in found[1]) void (found[1] as LazyPage).preload();
}

type BoundaryProps = { path: string; children: ComponentChildren };
type BoundaryState = { failedPath: string | null; error?: unknown };

/** Replaces a page that throws with an error page, until another page is opened. */
export class PageBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failedPath: null };

  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ failedPath: this.props.path, error });
  }

  override componentDidUpdate(): void {
    const { failedPath } = this.state;
    if (failedPath !== null && failedPath !== this.props.path) this.setState({ failedPath: null });
  }

  override render() {
    const { failedPath, error } = this.state;
    return failedPath === this.props.path ? <PageFailure isLoad={isLoadFailure(error)} /> : this.props.children;
  }
}

/** The error page for pages whose files cannot be loaded, and for script errors. */
const PageFailure = ({ isLoad }: { isLoad: boolean }) => (
  <div class="empty" role="alert">
    <Icon name="warning" />
    <h1>{isLoad ? "This page did not load" : "This page failed"}</h1>
    <p>{isLoad ? "Check the connection, then reload." : "Reload it, or open another page."}</p>
    <Button look="primary" onClick={() => location.reload()}>
      Reload
    </Button>
  </div>
);

/** `preload` loads the page before it is shown. */
type LazyPage = FunctionComponent & { preload(): Promise<unknown> };

type Module = { default: FunctionComponent };

const RELOADED_KEY = "offcut.reloaded-at";
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
    if (Date.now() - Number(sessionStorage.getItem(RELOADED_KEY)) < RELOAD_MS) return false;
    sessionStorage.setItem(RELOADED_KEY, String(Date.now()));
  } catch {
    // Without storage, a previous attempt cannot be detected.
    return false;
  }
  location.reload();
  return true;
}

/** Adds the styles that only the loaded component needs. The page names their files. */
export const withStyle =
  <Loaded,>(name: StyleName, load: () => Promise<Loaded>) =>
  async (): Promise<Loaded> => {
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
