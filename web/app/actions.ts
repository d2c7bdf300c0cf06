/**
 * The registry of actions of the open page and of the shell. Keyboard shortcuts, the list of keys, the command palette,
 * context menus and buttons come from it.
 */
import { signal as createSignal, type Signal, useSignal } from "@preact/signals";
import { type Inputs, useLayoutEffect, useMemo } from "preact/hooks";
import type { IconName } from "../ui/icon";
import { recall } from "./memory";
import { createSetting } from "./settings";

export type Action = {
  /** Identifies the action, such as "playback.toggle". */
  name: string;
  label: string;
  /** The label of buttons and menus, which describes the current effect of the action. Default: `label`. */
  describe?(): string;
  /** The heading in the list of keys. */
  group: string;
  icon?: IconName;
  /**
   * Examples: `?`, `Space`, `Shift+ArrowLeft`, `Mod+z`. `Mod` is ⌘ on Macs and Ctrl elsewhere. Empty if the action has
   * no key.
   */
  keys: readonly string[];
  /** Returns whether the action is possible now. Reads signals. Default: always. */
  isEnabled?(): boolean;
  /** Runs the action. Without it, the action is only listed: the focused element handles its keys. */
  perform?(): void;
  /** Whether the focused element handles the keys although the action can be performed from a menu. */
  hasOwnKeys?: boolean;
  /** Explains why a key does nothing while the action is disabled. */
  explain?(): void;
};

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
const tables = createSignal<readonly Signal<readonly Action[]>[]>([]);

/**
 * Whether single-letter shortcuts are on. Users can turn them off (WCAG 2.1.4). Earlier versions stored "off" for all
 * users of a browser.
 */
export const letterKeys = createSetting<boolean>("letter-keys", recall("letter-keys") !== "off");

/** Returns the actions of the shown components, in the order in which they were added. */
export const listActions = (): Action[] => tables.value.flatMap(({ value }) => value);

/** Returns whether an action can be performed now. */
export const isEnabled = (action: Action): boolean => action.isEnabled?.() ?? true;

/** Returns a function that creates the actions of a group. `more`: what only some actions have. */
export const createInGroup =
  (group: string) =>
  (name: string, label: string, keys: readonly string[], perform: () => void, more?: Partial<Action>): Action => ({
    ...{ name, label, group, keys, perform },
    ...more,
  });

/** Adds actions while a component is shown. `create` is called again when one of `inputs` has changed. */
export function useActions(create: () => readonly Action[], inputs: Inputs): void {
  const actions = useMemo(create, inputs);
  const table = useSignal(actions);
  // Layout effects run before the next key press.
  useLayoutEffect(() => {
    tables.value = [...tables.value, table];
    return () => {
      tables.value = tables.value.filter((one) => one !== table);
    };
  }, []);
  // The last action of a key is performed, so a changed table keeps its position.
  useLayoutEffect(() => {
    table.value = actions;
  }, [actions]);
}

/** Returns the action with a name, or undefined while no component has added it. */
export const findAction = (name: string): Action | undefined => listActions().findLast((one) => one.name === name);

/** Performs an action by name, or explains why it cannot. */
export function performAction(name: string): void {
  const action = findAction(name);
  if (action === undefined) return;
  if (isEnabled(action)) action.perform?.();
  else action.explain?.();
}

/** Returns a label with the first key of an action, such as "Undo (Ctrl + Z)". */
export const labelWithKey = (label: string, keys: readonly string[] = []): string =>
  keys[0] === undefined ? label : `${label} (${formatKeys(keys[0])})`;

/** Returns the label and the first key of an action as a tooltip, undefined while no component has added the action. */
export function titleAction(name: string): string | undefined {
  const action = findAction(name);
  return action && labelWithKey(action.describe?.() ?? action.label, action.keys);
}

/** Returns a key press in the notation of the table. */
export function toKeys(event: KeyboardEvent): string {
  const mod = isMac ? event.metaKey : event.ctrlKey;
  const key = event.key === " " ? "Space" : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const isLetter = /^[a-z]$/.test(key);
  // Shift is part of characters such as `?` and `=`.
  const shift = event.shiftKey && (isLetter || event.key.length > 1 || key === "Space");
  return [mod && "Mod", event.altKey && "Alt", shift && "Shift", key].filter(Boolean).join("+");
}

/** Whether the last press came from the pointer. Tab resets it, because it moves the focus. */
let isPointing = false;
/** Whether the pointer has set the focus. */
let isFocusPointed = false;
let isSpaceTaken = false;

/** Keys with Ctrl or ⌘ that belong to the page even in a text field. */
const PAGE_KEYS = /^Mod\+(Shift\+)?[fhks]$/;
/** Keys with which menus, lists and sliders are operated. */
const MOVING_KEYS = /^(Shift\+)?(Arrow\w+|Home|End|PageUp|PageDown)$/;

/** Returns whether a control uses these keys itself. Buttons, menus and choices leave Space and letters to the page. */
function isOfControl(target: EventTarget | null, keys: string): boolean {
  // A button that is disabled while it works leaves the focus to the page behind its dialog.
  if (document.querySelector("dialog:modal") !== null) return true;
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable) return true;
  const type = target instanceof HTMLInputElement ? target.type : "";
  const isChoice = /^(radio|checkbox|range)$/.test(type);
  if (!isChoice && /^(INPUT|TEXTAREA)$/.test(target.tagName)) return !PAGE_KEYS.test(keys);
  if (keys === "Enter") return target.closest("button, a, summary, select, input") !== null;
  if (target.closest("[role=menu], [role=listbox]") !== null) return MOVING_KEYS.test(keys) || keys === "Escape";
  if (isFocusPointed) return false;
  if (type === "checkbox") return keys === "Space";
  return (isChoice || target instanceof HTMLSelectElement) && MOVING_KEYS.test(keys);
}

/** Performs the action of a key press. Keys that a control uses, and keys in dialogs, are ignored. */
function handleKey(event: KeyboardEvent): void {
  const keys = toKeys(event);
  if (event.defaultPrevented || isOfControl(event.target, keys)) return;
  if (!letterKeys.value && /^(Shift\+)?[a-z]$/.test(keys)) return;
  const found = listActions().filter((action) => action.perform && !action.hasOwnKeys && action.keys.includes(keys));
  const action = found.findLast(isEnabled);
  const explain = found.findLast((one) => one.explain)?.explain;
  if (action === undefined && explain === undefined) return;
  event.preventDefault();
  isSpaceTaken = event.key === " ";
  if (action) action.perform!();
  else explain!();
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
  Backspace: "⌫",
  Enter: "⏎",
};

/** Returns the keys in the notation of the help. */
export const formatKeys = (keys: string): string =>
  keys
    .split(/\+(?=.)/)
    .map((key) => KEY_NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key))
    .join(" + ");
