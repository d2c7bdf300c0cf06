/** Settings that the pages keep in this browser for each user. */
import { computed, effect, type Signal, signal } from "@preact/signals";
import { forget, recall, remember } from "./memory";
import { me } from "./session";

/**
 * Creates a setting of the signed-in user. `usual` is the default, and is not stored. If `usual` is null, the setting
 * is a number or null.
 */
export function createSetting<Value extends boolean | number | null>(name: string, usual: Value): Signal<Value> {
  const key = computed(() => `${name}.${me.value?.id ?? ""}`);
  const setting = signal(usual);
  // Another user may sign in on the same page.
  effect(() => {
    setting.value = parse(recall(key.value), usual);
  });
  setting.subscribe((value) => {
    if (value === usual) forget(key.peek());
    else remember(key.peek(), JSON.stringify(value));
  });
  return setting;
}

function parse<Value>(text: string | null, usual: Value): Value {
  try {
    const value: unknown = JSON.parse(text ?? "null");
    const type = usual === null ? "number" : typeof usual;
    return typeof value === type ? (value as Value) : usual;
  } catch {
    return usual;
  }
}
