/** The root component: pages that need no session, or the shell around the others. */
import type { FunctionComponent } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { LocationProvider, Route, Router, useLocation } from "preact-iso";
import { isLocked, LockedPage } from "../shell/locked-page";
import { PageBoundary } from "../shell/page-boundary";
import { PasswordDialog } from "../shell/password-dialog";
import { Shell } from "../shell/shell";
import { Toasts } from "../shell/toasts";
import { Button } from "../ui/button";
import { connection } from "./connection";
import { decodeText } from "./decode-text";
import { loadSession } from "./load-session";
import { APP_PATTERN } from "./paths";
import { readPermissions } from "./read-permissions";
import { NotFound, OPEN_PAGES, PLAIN_PAGES, SHELL_PAGES } from "./routes";
import { refusals, session } from "./session";

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
      <PasswordDialog />
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
