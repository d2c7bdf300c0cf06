import { useLocation } from "preact-iso";
import { performAction } from "../app/actions";
import { chooseWorkspace, toWorkspaceName, workspace, workspaces } from "../app/session";
import { IconButton } from "../ui/button";
import { Icon } from "../ui/icon";
import { Menu } from "../ui/menu";
import { AccountMenu } from "./account-menu";
import { Bell } from "./bell";
import { Brand, ThemeButton } from "./brand";
import { PaletteButton } from "./command-palette";
import { findEntry, NAVIGATION } from "./navigation";

/** The navigation beside the editor, as icons. Pages of settings and of the account are in menus. */
const ENTRIES = ["/projects", "/jobs"];

export function Rail() {
  const current = findEntry(useLocation().path);
  return (
    <nav class="rail" aria-label="Main">
      <Brand />
      {NAVIGATION.filter(({ href }) => ENTRIES.includes(href)).map((entry) => (
        <a
          key={entry.href}
          href={entry.href}
          class="button quiet icon-only"
          aria-label={entry.label}
          title={entry.label}
          aria-current={entry === current ? "page" : undefined}
        >
          <Icon name={entry.icon} />
        </a>
      ))}
      <Bell />
      <span class="spacer" />
      <PaletteButton />
      <IconButton icon="keyboard" label="Keyboard shortcuts (?)" onClick={() => performAction("help.keys")} />
      <ThemeButton />
      <SettingsMenu />
      <AccountMenu />
    </nav>
  );
}

/** The pages of settings, which the navigation of other pages lists. */
function SettingsMenu() {
  const { route } = useLocation();
  const entries = NAVIGATION.filter(({ href, isShown }) => !ENTRIES.includes(href) && (isShown?.() ?? true));
  return (
    <Menu label="Settings" items={toItems(entries, route)}>
      <Icon name="sliders" />
    </Menu>
  );
}

const toItems = (entries: typeof NAVIGATION, route: (path: string) => void) =>
  entries.map(({ href, label, icon }) => ({ label, icon, run: () => route(href) }));

/** Number of entries shown on phones, before the notifications. The others are in a menu. */
const PHONE_ENTRIES = 2;

/** The navigation: on the left, or at the bottom on phones. */
export function MainNav() {
  const { path, route } = useLocation();
  const entries = NAVIGATION.filter(({ isShown }) => isShown?.() ?? true);
  const current = findEntry(path);
  const others = entries.slice(PHONE_ENTRIES);
  return (
    <nav class="shell-nav" aria-label="Main">
      {entries.map((entry, index) => (
        <a
          key={entry.href}
          href={entry.href}
          class={index < PHONE_ENTRIES ? undefined : "desktop-only"}
          aria-current={entry === current ? "page" : undefined}
        >
          <Icon name={entry.icon} />
          {entry.label}
        </a>
      ))}
      <a href="/notifications" class="phone-only" aria-current={path === "/notifications" ? "page" : undefined}>
        <Icon name="bell" />
        Notifications
      </a>
      {others.length > 0 && (
        <span class={current && others.includes(current) ? "nav-more current" : "nav-more"}>
          <Menu label="More pages" look="quiet" items={toItems(others, route)}>
            <Icon name="more" />
            More
          </Menu>
        </span>
      )}
    </nav>
  );
}

const ALL = "all";

/** Switches the workspace. Hidden for users with only one. */
export function WorkspaceSwitch() {
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
