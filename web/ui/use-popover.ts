import { useLayoutEffect, useRef, useState } from "preact/hooks";

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
