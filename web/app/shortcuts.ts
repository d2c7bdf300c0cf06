/** Keyboard shortcuts of the open page and of the shell. One table feeds the handler and the help. */
import { signal as createSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { recall, remember } from "./memory";

/**
 * Examples of `keys`: `?`, `Space`, `Shift+ArrowLeft`, `Mod+z`. `Mod` is ⌘ on Macs and Ctrl elsewhere. A shortcut
 * without `run` is only listed: the focused element handles it.
 */
export type Shortcut = { keys: string[]; label: string; group: string; run?(event: KeyboardEvent): void };

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
const tables = createSignal<Shortcut[][]>([]);

/** Whether single-letter shortcuts are on. Users can turn them off (WCAG 2.1.4). */
export const letterKeys = createSignal(recall("letter-keys") !== "off");
export function setLetterKeys(isOn: boolean): void {
  letterKeys.value = isOn;
  remember("letter-keys", isOn ? "on" : "off");
}

/** Returns the shortcuts that currently work. */
export const listShortcuts = (): Shortcut[] => tables.value.flat();

/** Adds shortcuts while a component is shown. */
export function useShortcuts(shortcuts: Shortcut[]): void {
  // A layout effect runs before the next key press.
  useLayoutEffect(() => {
    tables.value = [...tables.value, shortcuts];
    return () => {
      tables.value = tables.value.filter((table) => table !== shortcuts);
    };
  }, [shortcuts]);
}

/** Returns a key press in the notation of the table. */
export function toKeys(event: KeyboardEvent): string {
  const mod = isMac ? event.metaKey : event.ctrlKey;
  const key = event.key === " " ? "Space" : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const isLetter = /^[a-z]$/.test(key);
  // Shift is part of characters such as `?` and `=`.
  const shift = event.shiftKey && (isLetter || event.key.length > 1);
  return [mod && "Mod", event.altKey && "Alt", shift && "Shift", key].filter(Boolean).join("+");
}

/** Whether the last press came from the pointer. Tab resets it, because it moves the focus. */
let isPointing = false;
/** Whether the pointer has set the focus. */
let isFocusPointed = false;
let isSpaceTaken = false;

/**
 * Returns whether a select element uses these keys itself. It uses a letter only if an option starts with it, and no
 * key with Ctrl or ⌘, such as undo.
 */
function isOfChoice({ options }: HTMLSelectElement, keys: string): boolean {
  if (!/^(Shift\+)?[a-z]$/.test(keys)) return !keys.startsWith("Mod+");
  return [...options].some(({ text }) => text.trim().toLowerCase().startsWith(keys.at(-1)!));
}

/**
 * Returns whether a control uses these keys itself. Controls other than text fields leave them to the page after a
 * pointer press.
 */
function isOfControl(target: EventTarget | null, keys: string): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest("dialog, [role=menu]") !== null || target.isContentEditable) return true;
  const isCheck = target instanceof HTMLInputElement && /^(radio|checkbox)$/.test(target.type);
  if (!isCheck && /^(INPUT|TEXTAREA)$/.test(target.tagName)) return true;
  if (keys === "Enter") return target.closest("button, a, summary, select, input") !== null;
  if (isFocusPointed) return false;
  if (target instanceof HTMLSelectElement) return isOfChoice(target, keys);
  if (isCheck) return /^(Shift\+)?(Space|Arrow\w+)$/.test(keys);
  return keys === "Space" && target.closest("button, summary") !== null;
}

/** Runs the shortcut of a key press. Keys that a control uses, and keys in dialogs and menus, are ignored. */
function handleKey(event: KeyboardEvent): void {
  const keys = toKeys(event);
  if (event.defaultPrevented || isOfControl(event.target, keys)) return;
  if (!letterKeys.value && /^(Shift\+)?[a-z]$/.test(keys)) return;
  const found = listShortcuts().findLast((shortcut) => shortcut.run && shortcut.keys.includes(keys));
  if (!found?.run) return;
  event.preventDefault();
  isSpaceTaken = keys === "Space";
  found.run(event);
}

/** Listens to the keyboard for all pages. Returns a function that stops it. */
export function listenKeys(): () => void {
  const end = new AbortController();
  const { signal } = end;
  const onPress = ({ target }: PointerEvent) => {
    isPointing = true;
    // The pointer may press the element that already has the focus.
    isFocusPointed ||= target instanceof Node && document.activeElement?.contains(target) === true;
  };
  const onTab = ({ key }: KeyboardEvent) => {
    isPointing &&= key !== "Tab";
  };
  const onFocus = () => {
    isFocusPointed = isPointing;
  };
  // Firefox presses a button when Space is released.
  const onRelease = (event: KeyboardEvent) => {
    if (event.key === " " && isSpaceTaken) event.preventDefault();
    isSpaceTaken &&= event.key !== " ";
  };
  document.addEventListener("pointerdown", onPress, { signal, capture: true });
  document.addEventListener("keydown", onTab, { signal, capture: true });
  document.addEventListener("focusin", onFocus, { signal });
  document.addEventListener("keydown", handleKey, { signal });
  document.addEventListener("keyup", onRelease, { signal });
  return () => end.abort();
}

const KEY_NAMES: Record<string, string> = {
  Mod: isMac ? "⌘" : "Ctrl",
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
};

/** Returns the keys in the notation of the help. */
export const formatKeys = (keys: string): string =>
  keys
    .split(/\+(?=.)/)
    .map((key) => KEY_NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key))
    .join(" + ");
