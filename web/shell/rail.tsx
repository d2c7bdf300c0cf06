import type { ComponentChildren } from "preact";
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

/** Number of entries in the rail, and on phones before the notifications. The others are in a menu. */
const FIRST_ENTRIES = 2;

const listEntries = () => NAVIGATION.filter(({ isShown }) => isShown?.() ?? true);

/** The navigation beside the editor, as icons. */
export function Rail() {
  const current = findEntry(useLocation().path);
  return (
    <nav class="rail" aria-label="Main">
      <Brand />
      {NAVIGATION.slice(0, FIRST_ENTRIES).map((entry) => (
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
      <IconButton
        icon="keyboard"
        label="Keyboard shortcuts (?)"
        class="key"
        onClick={() => performAction("help.keys")}
      />
      <ThemeButton />
      <OtherEntries label="Settings">
        <Icon name="sliders" />
      </OtherEntries>
      <AccountMenu />
    </nav>
  );
}

type OtherEntriesProps = { label: string; look?: string; children: ComponentChildren };

function OtherEntries(props: OtherEntriesProps) {
  const { route } = useLocation();
  const items = listEntries()
    .slice(FIRST_ENTRIES)
    .map(({ href, label, icon }) => ({ label, icon, run: () => route(href) }));
  return <Menu {...props} items={items} />;
}

/** The navigation: on the left, or at the bottom on phones. */
export function MainNav() {
  const { path } = useLocation();
  const current = findEntry(path);
  const entries = listEntries();
  const isFirst = (entry: (typeof NAVIGATION)[number]) => entries.indexOf(entry) < FIRST_ENTRIES;
  return (
    <nav class="shell-nav" aria-label="Main">
      {entries.map((entry) => (
        <a
          key={entry.href}
          href={entry.href}
          class={isFirst(entry) ? undefined : "desktop-only"}
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
      <span class={current && !isFirst(current) ? "nav-more current" : "nav-more"}>
        <OtherEntries label="More pages" look="quiet">
          <Icon name="more" />
          More
        </OtherEntries>
      </span>
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
