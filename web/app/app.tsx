/** The root component: pages that need no session, or the shell around the others. */
import { Component, type ComponentChildren, type FunctionComponent } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from "preact-iso";
import { Shell } from "../shell/shell";
import { Toasts } from "../shell/toasts";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { Page } from "../ui/page";
import { Empty } from "../ui/states";
import { connection } from "./connection";
import { loadSession, readPermissions } from "./load-session";
import { APP_PATTERN } from "./paths";
import { NotFound, OPEN_PAGES, PasswordDialog, PLAIN_PAGES, SHELL_PAGES } from "./routes";
import { me, passwordRequest, refusals, session } from "./session";
import { decodeText } from "./use-query";

export const App = () => (
  <LocationProvider scope={APP_PATTERN}>
    <Guarded />
    <Toasts />
  </LocationProvider>
);

/** Catches errors of the shell. Errors of a page leave the shell in place. */
const Guarded = () => (
  <PageBoundary path={useLocation().path}>
    <Pages />
  </PageBoundary>
);

function Pages() {
  const { path } = useLocation();
  const refused = refusals.value;
  // The account may be pending deletion, or the user's role may have changed.
  useEffect(() => {
    if (refused > 0) void readPermissions();
  }, [refused]);
  if (path in OPEN_PAGES) return <Routes pages={OPEN_PAGES} />;
  const { kind } = session.value;
  if (kind === "unknown") return <Starting />;
  if (kind === "signed-out") return <ToSignIn />;
  const isPlain = path in PLAIN_PAGES;
  return (
    <>
      {isPlain ? (
        <Routes pages={PLAIN_PAGES} />
      ) : (
        <Shell>
          <PageBoundary path={path}>{isLocked(path) ? <LockedPage /> : <Routes pages={SHELL_PAGES} />}</PageBoundary>
        </Shell>
      )}
      {passwordRequest.value !== null && (
        <ErrorBoundary>
          <PasswordDialog />
        </ErrorBoundary>
      )}
    </>
  );
}

function Routes({ pages }: { pages: Record<string, FunctionComponent> }) {
  // The router throws on a path parameter that it cannot decode.
  const isDecodable = decodeText(useLocation().path) !== null;
  return (
    <Router>
      {Object.entries(isDecodable ? pages : {}).map(([path, component]) => (
        <Route key={path} path={path} component={component} />
      ))}
      <Route default component={NotFound} />
    </Router>
  );
}

/** Loads the session. Renders nothing while waiting, and an error page if the server does not respond. */
function Starting() {
  const isOnline = connection.value === "online";
  useLayoutEffect(() => {
    if (isOnline) void loadSession();
  }, [isOnline]);
  if (isOnline) return null;
  return (
    <main class="sign-in">
      <h1>Offcut does not respond</h1>
      <p class="soft">The page opens by itself when the server can be reached again.</p>
      <Button onClick={() => void loadSession()}>Try again</Button>
    </main>
  );
}

/** Redirects to the sign-in page, which returns the user here. */
function ToSignIn() {
  const { route, url } = useLocation();
  useEffect(() => route(url === "/" ? "/sign-in" : `/sign-in?${new URLSearchParams({ redirect: url })}`, true), []);
  return null;
}

/** Pages that the API still serves during the grace period of an account. */
const OPEN_IN_GRACE = ["/account", "/account/notifications", "/account/data", "/notifications", "/status"];

/** Returns whether the page is unavailable because the account is pending deletion. Reads signals. */
const isLocked = (path: string): boolean =>
  (me.value?.deleted_at ?? null) !== null && !OPEN_IN_GRACE.includes(path.replace(/\/$/, ""));

/** Replaces a page until the account is restored. */
const LockedPage = () => (
  <Page title="Not available">
    <Empty title="Restore your account to open this page" icon="info">
      <p>
        While the account is being deleted, you can view your <a href="/account">profile</a> and{" "}
        <a href="/account/data">export your data</a>. No data is deleted yet.
      </p>
    </Empty>
  </Page>
);

type BoundaryProps = { path: string; children: ComponentChildren };
type BoundaryState = { failedPath: string | null };

/** Replaces a page that throws with an error page, until another page is opened. */
class PageBoundary extends Component<BoundaryProps, BoundaryState> {
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
