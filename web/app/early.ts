/**
 * Runs while the application is loaded: the first frame has the theme of the user. A browser blocks its page for the first read of the storage, here
 * while there is nothing else to do.
 */
import { getSystemTheme, recallTheme } from "./stored-theme";

document.documentElement.dataset.theme = recallTheme() ?? getSystemTheme();
