import { ErrorBoundary, lazy, useLocation } from "preact-iso";
import { performAction } from "../app/actions";
import { api } from "../app/api";
import { toNumber } from "../app/english";
import { formatCount } from "../app/format";
import { compact, touch, watchMedia } from "../app/narrow";
import { unreadCount } from "../app/notifications";
import { openJobs } from "../app/open-jobs";
import { pinnedIds, shownPins } from "../app/pins";
import { lazyPage, withStyle } from "../app/routes";
import { chooseWorkspace, endSession, me, toDisplayName, toWorkspaceName, workspace, workspaces } from "../app/session";
import { PersonCell } from "../ui/avatar";
import { IconButton } from "../ui/button";
import { Icon } from "../ui/icon";
import { Menu, type MenuItem, usePopover } from "../ui/menu";
import { Brand, ThemeButton } from "./brand";
import { PaletteButton } from "./command-palette";
import { NAVIGATION, SETTINGS } from "./navigation";

const NewestNotifications = lazy(() => import("./newest-notifications"));
const PinnedProjects = lazyPage(withStyle("pages", () => import("../pages/projects/pinned-projects")));

const isCompact = watchMedia(compact);

/** The side bar of the editor, as icons. */
export function Rail() {
  return (
    <nav class="rail" aria-label="Main">
      <Brand />
      {NAVIGATION.map((entry) => (
        <RailLink key={entry.href} entry={entry} />
      ))}
      <Bell />
      <span class="spacer" />
      <PaletteButton />
      <IconButton
        icon="keyboard"
        label="Keyboard shortcuts (?)"
        class="key"
        onClick={() => performAction("help.keys")}
      />
      <ThemeButton />
      <RailLink entry={SETTINGS} />
      <AccountMenu />
    </nav>
  );
}

type Entry = typeof SETTINGS;

function RailLink({ entry: { href, label, icon, paths } }: { entry: Entry }) {
  const { path } = useLocation();
  return (
    <a href={href} class="button quiet icon-only" title={label} aria-current={paths.test(path) ? "page" : undefined}>
      <Icon name={icon} />
      <span class="visually-hidden">{label}</span>
      {href === "/jobs" && <JobCount />}
    </a>
  );
}

/** The side bar. In narrow windows, a part of it is the tab bar at the bottom. */
export function SideBar() {
  const { path } = useLocation();
  const hasPin = shownPins.value.some((id) => path === `/projects/${id}`);
  const link = ({ href, label, icon, paths }: Entry, isCurrent = paths.test(path)) => (
    <a
      key={href}
      href={href}
      class={href === "/settings" ? "wide-only" : ""}
      aria-current={isCurrent ? "page" : undefined}
    >
      <Icon name={icon} />
      <span>{label}</span>
      {href === "/jobs" && <JobCount />}
    </a>
  );
  return (
    <div class="shell-side">
      <Brand />
      <WorkspaceSwitch />
      <nav class="shell-nav" aria-label="Main">
        {NAVIGATION.map((entry) => link(entry, entry.paths.test(path) && !hasPin))}
        <span class="wide-only">
          <Bell hasLabel={true} />
        </span>
        <a href="/notifications" class="tab-only" aria-current={path === "/notifications" ? "page" : undefined}>
          <Icon name="bell" />
          <span>Notifications</span>
          <UnreadCount />
        </a>
        {!isCompact.value && pinnedIds.value.length > 0 && (
          <ErrorBoundary>
            <PinnedProjects />
          </ErrorBoundary>
        )}
        <span class="spacer wide-only" />
        {link(SETTINGS)}
        <span class={SETTINGS.paths.test(path) ? "tab-only nav-more current" : "tab-only nav-more"}>
          <MoreMenu />
        </span>
      </nav>
      <span class="wide-only">
        <AccountMenu />
      </span>
    </div>
  );
}

/** The number of running and waiting jobs of the workspace. */
function JobCount() {
  const { length } = openJobs.value;
  return length === 0 ? null : (
    <span class="count number">
      {toNumber(length)}
      <span class="visually-hidden"> running or waiting</span>
    </span>
  );
}

const MAX_SHOWN_COUNT = 99;

/** The notification bell: the number of unread notifications, and a popover with the newest. */
function Bell({ hasLabel = false }: { hasLabel?: boolean }) {
  const { isOpen, setIsOpen, root, button } = usePopover();
  return (
    <div class="menu" ref={root}>
      <button
        ref={button}
        type="button"
        class={hasLabel ? "bell-row" : "button quiet icon-only"}
        aria-expanded={isOpen}
        title={hasLabel ? undefined : "Notifications"}
        onClick={() => setIsOpen(!isOpen)}
      >
        <Icon name="bell" />
        <span class={hasLabel ? undefined : "visually-hidden"}>Notifications</span>
        <UnreadCount />
      </button>
      {isOpen && (
        <ErrorBoundary>
          <NewestNotifications onClose={() => setIsOpen(false)} />
        </ErrorBoundary>
      )}
    </div>
  );
}

/** Announces the number of unread notifications, also in windows without the bell. */
export const UnreadStatus = () => (
  <span class="visually-hidden" role="status">
    {unreadCount.value > 0 && formatCount(unreadCount.value, "unread notification")}
  </span>
);

/** The number of unread notifications. */
const UnreadCount = () =>
  unreadCount.value === 0 ? null : (
    <span class="count number">
      {unreadCount.value > MAX_SHOWN_COUNT ? `${MAX_SHOWN_COUNT}+` : unreadCount.value}
      <span class="visually-hidden"> unread</span>
    </span>
  );

const ALL = "all";

/** Switches the workspace. Hidden for users with only one. */
function WorkspaceSwitch() {
  const { route } = useLocation();
  if (workspaces.value.length < 2) return null;
  return (
    <select
      class="input workspace-switch"
      aria-label="Workspace"
      value={workspace.value?.id}
      onChange={(event) => {
        const { value } = event.currentTarget;
        if (value === ALL) {
          // The select keeps its value until the switch has happened.
          event.currentTarget.value = workspace.value?.id ?? "";
          return route("/workspaces");
        }
        chooseWorkspace(value);
        // The open page belongs to the previous workspace.
        route("/projects");
      }}
    >
      {workspaces.value.map((one) => (
        <option key={one.id} value={one.id}>
          {toWorkspaceName(one)}
        </option>
      ))}
      <hr />
      <option value={ALL}>All workspaces…</option>
    </select>
  );
}

/** Returns the items of the user's menu. */
function useAccountItems(): MenuItem[] {
  const { route } = useLocation();
  const signOut = async () => {
    await api.POST("/api/v1/auth/logout").catch(() => {});
    endSession();
  };
  return [
    { label: "Account", icon: "user", run: () => route("/account") },
    { label: "Workspaces", icon: "workspaces", run: () => route("/workspaces") },
    { label: "Keyboard shortcuts", icon: "keyboard", run: () => performAction("help.keys") },
    { label: "System status", icon: "info", run: () => route("/status") },
    { label: "Sign out", icon: "signOut", run: () => void signOut() },
  ];
}

/** The user's menu. */
function AccountMenu() {
  const items = useAccountItems();
  const { value: user } = me;
  if (user === null) return null;
  const name = toDisplayName(user);
  return (
    <Menu label={`Account: ${name}`} look="quiet account-button" hasText={true} items={items}>
      <span class="visually-hidden">Account: </span>
      <PersonCell person={{ id: user.id, name }} />
    </Menu>
  );
}

/** The menu with the entries that do not fit into the tab bar. */
function MoreMenu() {
  const { route } = useLocation();
  const settings: MenuItem = { label: "Settings", icon: "sliders", run: () => route("/settings") };
  const items = useAccountItems().filter(({ icon }) => !(touch.matches && icon === "keyboard"));
  return (
    <Menu label="More" look="quiet" hasText={true} items={[settings, ...items]}>
      <Icon name="more" />
      More
    </Menu>
  );
}
