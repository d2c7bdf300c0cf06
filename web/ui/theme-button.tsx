/** The button that switches between the light and the dark theme. */
import { getTheme, toggleTheme } from "../app/theme";
import { Icon } from "./icon";

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
