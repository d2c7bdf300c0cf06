/** The projects that the user has pinned to the side bar. Kept in the browser for each user and workspace. */
import { computed, effect, signal } from "@preact/signals";
import { listenMemory, recall, remember } from "./memory";
import { me, workspace } from "./session";
import { showToast } from "./toasts";

/** Maximum number of IDs in one request for projects. */
export const MAX_PINS = 100;

const key = computed(() => `pinned.${me.value?.id ?? ""}.${workspace.value?.id ?? ""}`);
// Without storage, pins stay until the page is closed.
const text = signal("");

effect(() => {
  text.value = recall(key.value) ?? "";
  return listenMemory(key.value, (changed) => {
    text.value = changed ?? "";
  });
});

/** The server refuses a list with a malformed ID. */
const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The IDs of the pinned projects, in the order in which they were pinned. */
export const pinnedIds = computed<readonly string[]>(() =>
  text.value
    .split(",")
    .filter((id) => ID.test(id))
    .slice(0, MAX_PINS),
);

/** The pinned projects whose links the side bar shows. */
export const shownPins = signal<readonly string[]>([]);

/** Pins a project, or unpins it. */
export function togglePin(id: string): void {
  const ids = pinnedIds.peek();
  if (ids.includes(id)) unpin(id);
  else if (ids.length < MAX_PINS) store([...ids, id]);
  else showToast({ kind: "bad", text: `You can pin up to ${MAX_PINS} projects. Unpin one first.` });
}

export const unpin = (id: string): void => store(pinnedIds.peek().filter((one) => one !== id));

function store(ids: readonly string[]): void {
  text.value = ids.join(",");
  remember(key.peek(), text.value);
}
