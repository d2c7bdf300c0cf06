/** Shows the page of a path, and an error page in place of one that fails. */
import { Component, type ComponentChildren, type FunctionComponent } from "preact";
import { Route, Router, useLocation } from "preact-iso";
import NotFoundPage from "../pages/not-found";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import type { LazyPage } from "./lazy-page";
import { decodeText } from "./use-query";

/** The pages of some paths. */
export type PageTable = Record<string, FunctionComponent>;

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
type BoundaryState = { failedPath: string | null };

/** Replaces a page that throws with an error page, until another page is opened. */
export class PageBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failedPath: null };

  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ failedPath: this.props.path });
  }

  override componentDidUpdate(): void {
    const { failedPath } = this.state;
    if (failedPath !== null && failedPath !== this.props.path) this.setState({ failedPath: null });
  }

  override render() {
    return this.state.failedPath === this.props.path ? <PageFailure /> : this.props.children;
  }
}

/** The error page for script errors, and for pages whose files cannot be loaded. */
const PageFailure = () => (
  <div class="empty" role="alert">
    <Icon name="warning" />
    <h1>This page has an error</h1>
    <p>Reload it. Nothing that was saved is lost.</p>
    <Button look="primary" onClick={() => location.reload()}>
      Reload
    </Button>
  </div>
);
