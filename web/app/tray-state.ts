/** Whether there is anything to show in the tray, which is loaded with the first upload or batch. */
import { signal } from "@preact/signals";

export const isTrayNeeded = signal(false);
