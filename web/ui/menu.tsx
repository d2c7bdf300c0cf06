import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./icon";

export type MenuItem = {
  label: string;
  icon?: IconName;
  isDangerous?: boolean;
  /** Set for one of several choices. */
  isChecked?: boolean;
  /** Whether a line separates it from the item before. */
  hasRule?: boolean;
  run(): void;
};

type MenuProps = {
  label: string;
  items: MenuItem[];
  side?: "left" | "right";
  children: ComponentChildren;
  look?: string;
};

/** A button that opens a menu of actions. Arrow keys move through it, Escape closes it. */
export function Menu({ label, items, side = "right", look = "quiet icon-only", children }: MenuProps) {
  const [isOpen, setIsOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  // A layout effect runs before the next key press.
  useLayoutEffect(() => {
    if (!isOpen) return;
    root.current?.querySelector<HTMLElement>("[role^=menuitem]")?.focus();
    const closeOutside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setIsOpen(false);
    };
    document.addEventListener("pointerdown", closeOutside);
    return () => document.removeEventListener("pointerdown", closeOutside);
  }, [isOpen]);

  const close = () => {
    setIsOpen(false);
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") return close();
    if (event.key === "Tab") return setIsOpen(false);
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const all = [...(root.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
    const next = all.indexOf(document.activeElement as HTMLElement) + step;
    all[(next + all.length) % all.length]?.focus();
  };

  return (
    <div class="menu" ref={root}>
      <button
        ref={button}
        type="button"
        class={`button ${look}`}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={label}
        title={label}
        onClick={() => setIsOpen(!isOpen)}
      >
        {children}
      </button>
      {isOpen && (
        <div class={`menu-items ${side}`} role="menu" aria-label={label} tabIndex={-1} onKeyDown={onKeyDown}>
          {items.map((item) => (
            // biome-ignore lint/a11y/useAriaPropsSupportedByRole: it is only set for the role `menuitemradio`.
            <button
              key={item.label}
              type="button"
              role={item.isChecked === undefined ? "menuitem" : "menuitemradio"}
              aria-checked={item.isChecked}
              tabIndex={-1}
              class={`menu-item${item.isDangerous ? " danger" : ""}${item.hasRule ? " has-rule" : ""}`}
              onClick={() => {
                close();
                item.run();
              }}
            >
              {item.icon && <Icon name={item.icon} />}
              {item.isChecked !== undefined && (
                <span class="menu-check">{item.isChecked && <Icon name="check" />}</span>
              )}
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
