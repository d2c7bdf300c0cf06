/** The pages that need a session, and the shell around them. It is loaded when somebody is signed in. */
import type { FunctionComponent } from "preact";
import { ErrorBoundary, useLocation } from "preact-iso";
import { ProjectsPage } from "../pages/projects/projects-page";
import { Shell } from "../shell/shell";
import { NotFoundPage, Page } from "../ui/page";
import { Empty } from "../ui/states";
import { afterNextFrame } from "./after-next-frame";
import { listenReconnect, reloadImages } from "./connection";
import { startLive } from "./live";
import { watchNotifications } from "./notifications";
import { watchEndedRenders, watchOpenJobs } from "./open-jobs";
import { findStyle, PAGE_MODULES } from "./page-modules";
import { PLAIN_PATHS, SHELL_PATHS } from "./paths";
import { lazyPage, PageBoundary, preloadPage, Routes, withStyle } from "./routes";
import { isAdmin, me, passwordRequest, session } from "./session";

type Path = (typeof PLAIN_PATHS | typeof SHELL_PATHS)[number];
type AdminPath = Extract<Path, `/admin/${string}`>;
type LaterPath = Exclude<Path, AdminPath | "/" | "/projects">;

const MODULES: Record<LaterPath, Parameters<typeof lazyPage>[0]> = PAGE_MODULES;

const isAdminPath = (path: Path): path is AdminPath => path.startsWith("/admin/");
const isLaterPath = (path: Path): path is LaterPath => path in MODULES;

/** Returns the page of a path. All pages except the list of projects are loaded when they are first opened. */
function createPage(path: Path): FunctionComponent {
  if (isAdminPath(path)) return adminPage(path);
  return isLaterPath(path) ? lazyPage(withStyle(findStyle(path), MODULES[path])) : ProjectsPage;
}

const createPages = (paths: readonly Path[]) => Object.fromEntries(paths.map((path) => [path, createPage(path)]));
const PLAIN_PAGES = createPages(PLAIN_PATHS);
const SHELL_PAGES = createPages(SHELL_PATHS);
const PasswordDialog = lazyPage(() => import("../shell/password-dialog"));

/**
 * Returns a page that is loaded, with the other ones, when an administrator first opens it. Other users see "Page not
 * found".
 */
function adminPage(path: AdminPath): FunctionComponent {
  const load = async () => ({ default: (await import("../pages/admin/pages")).PAGES[path] });
  const Page = lazyPage(withStyle("admin", load));
  return () => (isAdmin.value ? <Page /> : <NotFoundPage />);
}

// Pages of administration wait for the session.
preloadPage({ ...PLAIN_PAGES, ...SHELL_PAGES }, location.pathname);
startLater();

/** Starts the background updates after the first frame. */
function startLater(): void {
  const stop = session.subscribe(({ kind }) => {
    if (kind === "unknown") return;
    queueMicrotask(() => stop());
    afterNextFrame(() => {
      startLive();
      watchOpenJobs();
      watchEndedRenders();
      watchNotifications();
      listenReconnect(reloadImages);
    });
  });
}

export default function SignedIn() {
  const { path } = useLocation();
  return (
    <>
      {path in PLAIN_PAGES ? (
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

/** Pages that the API still serves during the grace period of an account. */
const OPEN_IN_GRACE = ["/account", "/account/notifications", "/account/data", "/notifications", "/settings", "/status"];

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
