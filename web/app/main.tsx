/** Starts the dashboard: pages that need no session, or the signed-in application. */
import { type FunctionComponent, render } from "preact";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { ErrorBoundary, LocationProvider, useLocation } from "preact-iso";
import { Toasts } from "../shell/toasts";
import { Button } from "../ui/button";
import { watchOtherDrops } from "../upload/dropped-files";
import { connection, watchConnection } from "./connection";
import { loadSession, readPermissions, wasSignedIn, watchAccount } from "./load-session";
import { APP_PATTERN, type OPEN_PATHS } from "./paths";
import { startCache } from "./query-client";
import { lazyPage, PageBoundary, preloadPage, Routes, withStyle } from "./routes";
import { refusals, session } from "./session";
import { applyTheme } from "./theme";

type LinkPath = "/forgot-password" | "/reset-password" | "/verify-email";
type NewAccountPath = "/sign-up" | "/setup" | "/invitation";

const linkPage = (path: LinkPath) =>
  lazyPage(async () => ({ default: (await import("../pages/sign-in/link-pages")).PAGES[path] }));
const newAccountPage = (path: NewAccountPath) =>
  lazyPage(async () => ({ default: (await import("../pages/sign-in/new-account-pages")).PAGES[path] }));

const OPEN_PAGES: Record<(typeof OPEN_PATHS)[number], FunctionComponent> = {
  "/sign-in": lazyPage(() => import("../pages/sign-in/sign-in-page")),
  "/sign-up": newAccountPage("/sign-up"),
  "/setup": newAccountPage("/setup"),
  "/forgot-password": linkPage("/forgot-password"),
  "/reset-password": linkPage("/reset-password"),
  "/verify-email": linkPage("/verify-email"),
  "/invitation": newAccountPage("/invitation"),
};
const SignedIn = lazyPage(withStyle("signed-in", () => import("./signed-in")));

/** Loads the code for a path while the session is being loaded. Without a session, the sign-in page follows. */
function preload(path: string, wasSignedIn: boolean): void {
  if (isOpen(path)) preloadPage(OPEN_PAGES, path);
  else if (wasSignedIn) void SignedIn.preload();
}

const isOpen = (path: string): boolean => path.replace(/\/$/, "") in OPEN_PAGES;

const App = () => (
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
  return (
    <ErrorBoundary>
      <SignedIn />
    </ErrorBoundary>
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
      <p class="soft">This page opens automatically when the server responds.</p>
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

applyTheme();
watchOtherDrops();
preload(location.pathname, wasSignedIn());
watchConnection();
watchAccount();
startCache();
render(<App />, document.getElementById("app")!);
