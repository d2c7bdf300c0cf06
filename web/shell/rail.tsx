import { useLocation } from "preact-iso";
import { performAction } from "../app/actions";
import { IconButton } from "../ui/button";
import { Icon } from "../ui/icon";
import { AccountMenu } from "./account-menu";
import { Bell } from "./bell";
import { Brand } from "./brand";
import { PaletteButton } from "./command-palette";
import { findEntry, NAVIGATION } from "./navigation";
import { ThemeButton } from "./theme-button";

/** The navigation beside the editor, as icons. Pages of the account and of administration are in the account's menu and the search. */
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
      <AccountMenu />
    </nav>
  );
}
