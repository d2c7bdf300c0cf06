/** Keyboard shortcuts of the page that is open, and of the shell. One table feeds the handler and the help. */
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { recall, remember } from "./memory";

/** `keys`: `?`, `Space`, `Shift+ArrowLeft`, `Mod+z`. `Mod` is ⌘ on Macs and Ctrl elsewhere. */
export type Shortcut = { keys: string[]; label: string; group: string; run(event: KeyboardEvent): void };

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
const tables = signal<Shortcut[][]>([]);

/** Whether single letters work. They can be switched off (WCAG 2.1.4). */
export const letterKeys = signal(recall("letter-keys") !== "off");
export function setLetterKeys(isOn: boolean): void {
  letterKeys.value = isOn;
  remember("letter-keys", isOn ? "on" : "off");
}

/** Returns the shortcuts that work now. */
export const listShortcuts = (): Shortcut[] => tables.value.flat();

/** Adds shortcuts while a component is shown. */
export function useShortcuts(shortcuts: Shortcut[]): void {
  // Before the next key is pressed.
  useLayoutEffect(() => {
    tables.value = [...tables.value, shortcuts];
    return () => {
      tables.value = tables.value.filter((table) => table !== shortcuts);
    };
  }, [shortcuts]);
}

/** Returns how a key press is written in the table. */
export function toKeys(event: KeyboardEvent): string {
  const mod = isMac ? event.metaKey : event.ctrlKey;
  const key = event.key === " " ? "Space" : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const isLetter = /^[a-z]$/.test(key);
  // The shift of `?` and `=` is part of the character.
  const shift = event.shiftKey && (isLetter || event.key.length > 1);
  return [mod && "Mod", event.altKey && "Alt", shift && "Shift", key].filter(Boolean).join("+");
}

/** Returns whether a field uses the keys itself. A choice uses few of them: undo follows it, for example. */
function isOfField(target: EventTarget | null, keys: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("dialog") !== null || target.isContentEditable) return true;
  if (target instanceof HTMLSelectElement) return !keys.startsWith("Mod+");
  if (target instanceof HTMLInputElement && /^(radio|checkbox)$/.test(target.type))
    return /^(Shift\+)?(Space|Enter|Arrow\w+)$/.test(keys);
  return /^(INPUT|TEXTAREA)$/.test(target.tagName);
}

/** Runs the shortcut of a key press. Keys that fields use, and keys in dialogs, are left alone. */
export function handleKey(event: KeyboardEvent): void {
  const keys = toKeys(event);
  if (event.defaultPrevented || isOfField(event.target, keys)) return;
  if (!letterKeys.value && /^(Shift\+)?[a-z]$/.test(keys)) return;
  // A button takes its own Space and Enter.
  if (/^(Space|Enter)$/.test(keys) && event.target instanceof HTMLElement && event.target.closest("button, a, summary"))
    return;
  const found = listShortcuts().findLast((shortcut) => shortcut.keys.includes(keys));
  if (!found) return;
  event.preventDefault();
  found.run(event);
}

const KEY_NAMES: Record<string, string> = {
  Mod: isMac ? "⌘" : "Ctrl",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
};

/** Returns the keys as the help shows them. */
export const formatKeys = (keys: string): string =>
  keys
    .split(/\+(?=.)/)
    .map((key) => KEY_NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key))
    .join(" + ");
