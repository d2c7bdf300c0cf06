/** Settings that the pages keep in this browser for each user. */
import { computed, effect, type Signal, signal } from "@preact/signals";
import { forget, recall, remember } from "./memory";
import { me } from "./session";

/**
 * Creates a setting of the signed-in user. `usual` is the default, and is not stored. `read` returns the setting for a
 * stored value of any form, or throws; default: a value of the type of `usual`, or a number if that is null.
 */
export function createSetting<Value>(
  name: string,
  usual: Value,
  read = (stored: unknown): Value => (isOfType(stored, usual) ? (stored as Value) : usual),
): Signal<Value> {
  const key = computed(() => `${name}.${me.value?.id ?? ""}`);
  const setting = signal(usual);
  // Another user may sign in on the same page.
  effect(() => {
    setting.value = parse(recall(key.value), usual, read);
  });
  setting.subscribe((value) => {
    if (value === usual) forget(key.peek());
    else remember(key.peek(), JSON.stringify(value));
  });
  return setting;
}

const isOfType = (stored: unknown, usual: unknown): boolean =>
  typeof stored === (usual === null ? "number" : typeof usual);

function parse<Value>(text: string | null, usual: Value, read: (stored: unknown) => Value): Value {
  if (text === null) return usual;
  try {
    return read(JSON.parse(text));
  } catch {
    return usual;
  }
}
