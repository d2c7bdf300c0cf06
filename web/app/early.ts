/**
 * Runs before the application has loaded, so that the first frame has the user's theme. The first access to local
 * storage blocks the page, so it happens here, while the page is still waiting for the script.
 */
import { getSystemTheme, recallTheme } from "./stored-theme";

document.documentElement.dataset.theme = recallTheme() ?? getSystemTheme();
