import { useLocation } from "preact-iso";
import { Icon } from "../ui/icon";
import { Menu } from "../ui/menu";
import { findEntry, NAVIGATION } from "./navigation";

/** Number of entries shown on phones. The others are in a menu. */
const PHONE_ENTRIES = 4;

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
      {others.length > 0 && (
        <span class={current && others.includes(current) ? "nav-more current" : "nav-more"}>
          <Menu
            label="More pages"
            look="quiet"
            items={others.map(({ href, label, icon }) => ({ label, icon, run: () => route(href) }))}
          >
            <Icon name="more" />
            More
          </Menu>
        </span>
      )}
    </nav>
  );
}
