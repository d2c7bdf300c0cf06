/** The projects that the user has pinned to the side bar. Kept in the browser for each user and workspace. */
import { computed, signal } from "@preact/signals";
import { recall, remember } from "./memory";
import { me, workspace } from "./session";

/** Maximum number of IDs in one request for projects. */
export const MAX_PINS = 100;

const changes = signal(0);
// Another tab may have pinned a project.
addEventListener("storage", () => changes.value++);

const toKey = (): string => `pinned.${me.value?.id ?? ""}.${workspace.value?.id ?? ""}`;

/** The IDs of the pinned projects, in the order in which they were pinned. */
export const pinnedIds = computed<readonly string[]>(() => {
  changes.value;
  return (recall(toKey()) ?? "").split(",").filter(Boolean);
});

/** Pins a project, or unpins it. */
export function togglePin(id: string): void {
  const others = pinnedIds.peek().filter((one) => one !== id);
  const ids = others.length < pinnedIds.peek().length ? others : [...others, id].slice(-MAX_PINS);
  remember(toKey(), ids.join(","));
  changes.value++;
}
