import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { findAction, formatKeys, isEnabled, performAction } from "../app/actions";
import { Icon, type IconName } from "./icon";

export type MenuItem = {
  label: string;
  /** Identifies the item among others with the same label. */
  id?: string;
  /** Shown after the label, in a softer color. */
  detail?: string;
  icon?: IconName;
  isDangerous?: boolean;
  /** Set for one of several choices. */
  isChecked?: boolean;
  /** Set for items that can be turned on and off. */
  isOn?: boolean;
  /** The key of the action, as it is shown. */
  key?: string | undefined;
  /** Whether a line separates it from the item before. */
  hasRule?: boolean;
  run(): void;
};

/** Returns the items of the registered actions that are enabled. */
export const listActionItems = (names: readonly string[]): MenuItem[] =>
  names.flatMap((name) => {
    const action = findAction(name);
    if (action === undefined || !isEnabled(action)) return [];
    const { label, icon, keys, describe } = action;
    const key = keys[0] && formatKeys(keys[0]);
    return [{ label: describe?.() ?? label, ...(icon && { icon }), key, run: () => performAction(name) }];
  });

type MenuProps = {
  label: string;
  items: MenuItem[];
  side?: "left" | "right";
  children?: ComponentChildren;
  look?: string;
  /** Whether the button is named by its content instead of the label. */
  hasText?: boolean;
};

/** A button that opens a menu of actions. */
export function Menu({ label, items, side = "right", look = "quiet icon-only", hasText = false, children }: MenuProps) {
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <div class="menu">
      <button
        ref={button}
        type="button"
        class={`button ${look}`}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={hasText ? undefined : label}
        title={hasText ? undefined : label}
        onClick={() => setIsOpen(!isOpen)}
      >
        {children}
      </button>
      {isOpen && (
        <MenuItems
          label={label}
          items={items}
          class={side}
          onClose={(returnsFocus) => {
            setIsOpen(false);
            if (returnsFocus) button.current?.focus();
          }}
        />
      )}
    </div>
  );
}

const toRole = ({ isChecked, isOn }: MenuItem) =>
  isChecked !== undefined ? "menuitemradio" : isOn !== undefined ? "menuitemcheckbox" : "menuitem";

/** Height of the bar at the bottom of small screens, in pixels. */
const TAB_BAR = 64;

type MenuItemsProps = {
  label: string;
  items: MenuItem[];
  class: string;
  /** `returnsFocus`: the focus goes back to where it was before. */
  onClose(returnsFocus: boolean): void;
};

/** An open menu. Arrow keys move through it; Escape, or a press outside of its parent, closes it. */
export function MenuItems({ label, items, class: side, onClose }: MenuItemsProps) {
  const list = useRef<HTMLDivElement>(null);
  const listItems = () => [...(list.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
  // A layout effect runs before the next key press.
  useLayoutEffect(() => {
    const { bottom, height } = list.current!.getBoundingClientRect();
    // Only if it fits between the top bar and its button, which take 96 pixels.
    list.current!.classList.toggle("up", bottom > Math.max(innerHeight - TAB_BAR, 2 * height + 96));
    listItems()[0]?.focus();
    const closeOutside = (event: Event) => {
      if (!list.current?.parentElement?.contains(event.target as Node)) onClose(false);
    };
    document.addEventListener("pointerdown", closeOutside);
    return () => document.removeEventListener("pointerdown", closeOutside);
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.preventDefault();
      return onClose(true);
    }
    if (event.key === "Tab") return onClose(false);
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const all = listItems();
    const next = all.indexOf(document.activeElement as HTMLElement) + step;
    all[(next + all.length) % all.length]?.focus();
  };
  return (
    <div ref={list} class={`menu-items ${side}`} role="menu" aria-label={label} tabIndex={-1} onKeyDown={onKeyDown}>
      {items.map((item) => (
        // biome-ignore lint/a11y/useAriaPropsSupportedByRole: it is only set for the roles `menuitemradio` and `menuitemcheckbox`.
        <button
          key={item.id ?? item.label}
          type="button"
          role={toRole(item)}
          aria-checked={item.isChecked ?? item.isOn}
          tabIndex={-1}
          class={`menu-item${item.isDangerous ? " danger" : ""}${item.hasRule ? " has-rule" : ""}`}
          onClick={() => {
            onClose(true);
            item.run();
          }}
        >
          {item.icon && <Icon name={item.icon} />}
          {(item.isChecked ?? item.isOn) !== undefined && (
            <span class="menu-check">{(item.isChecked || item.isOn) && <Icon name="check" />}</span>
          )}
          <span class="menu-label">{item.label}</span>
          {item.detail && <span class="menu-detail">{item.detail}</span>}
          {item.key !== undefined && <span class="key">{item.key}</span>}
        </button>
      ))}
    </div>
  );
}

/** A popover below a button. Escape or a click elsewhere closes it. `root` contains both. */
export function usePopover() {
  const [isOpen, setIsOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  // A layout effect runs before the next key press.
  useLayoutEffect(() => {
    if (!isOpen) return;
    const closeOutside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setIsOpen(false);
    };
    const closeOnEscape = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      // The page has other uses for the key.
      event.preventDefault();
      setIsOpen(false);
      button.current?.focus();
    };
    // Closes on a click outside, and when the keyboard moves the focus outside.
    document.addEventListener("pointerdown", closeOutside);
    document.addEventListener("focusin", closeOutside);
    document.addEventListener("keydown", closeOnEscape, { capture: true });
    return () => {
      document.removeEventListener("pointerdown", closeOutside);
      document.removeEventListener("focusin", closeOutside);
      document.removeEventListener("keydown", closeOnEscape, { capture: true });
    };
  }, [isOpen]);
  return { isOpen, setIsOpen, root, button };
}
