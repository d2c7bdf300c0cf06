/** The parts of the bar on every page: the product name and the theme switch. */
import { getTheme, toggleTheme } from "../app/theme";
import { Icon } from "../ui/icon";

/** The product name, which links to the start page. */
export const Brand = () => (
  <a class="shell-brand" href="/">
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect fill="var(--brand)" width="32" height="32" rx="7" />
      <path fill="var(--on-brand)" d="M6 11h8v10H6zM18 11h3v10h-3zM25 11h1.5v10H25z" />
    </svg>
    Offcut
  </a>
);

export const ThemeButton = () => (
  <button
    type="button"
    class="button quiet icon-only"
    aria-label="Theme"
    title={getTheme() === "dark" ? "Use the light theme" : "Use the dark theme"}
    onClick={toggleTheme}
  >
    <Icon name="theme" />
  </button>
);
