import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { IconButton } from "./button";

type DialogProps = {
  title: string;
  isWide?: boolean;
  /** Only a button of its content closes it: one with `data-closes`, to which Escape leads instead of closing. */
  isKept?: boolean;
  onClose(): void;
  children: ComponentChildren;
};

/** A modal dialog. The browser keeps the focus inside; it returns to where it was when the dialog is closed. */
export function Dialog({ title, isWide = false, isKept = false, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // At once, so that the next key is for the dialog. Its fields cannot take the focus before it is open.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    element?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => {
      // While it is open, nothing outside of it takes the focus.
      element?.close();
      const isThere = before instanceof HTMLElement && before.isConnected;
      // What opened it may be deleted.
      const next = isThere ? before : document.querySelector<HTMLElement>("main h1");
      next?.focus();
    };
  }, []);
  useLayoutEffect(() => (isKept ? keepOpen(dialog.current!) : undefined), [isKept]);
  return (
    <dialog
      ref={dialog}
      class={isWide ? "dialog wide" : "dialog"}
      closedby={isKept ? "none" : undefined}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (!isKept) onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={titleId}>{title}</h2>
        {!isKept && <IconButton icon="close" label="Close" onClick={onClose} />}
      </div>
      {children}
    </dialog>
  );
}

/**
 * Makes Escape move the focus to the button that closes the dialog. A browser closes a dialog on the second Escape even if `cancel` was
 * prevented, but not if the key was. The key is for the document when nothing in the dialog has the focus.
 */
function keepOpen(dialog: HTMLDialogElement): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    const focused = event.target instanceof Element ? event.target.closest("dialog") : null;
    if (event.key !== "Escape" || (focused !== null && focused !== dialog)) return;
    event.preventDefault();
    dialog.querySelector<HTMLElement>("[data-closes]")?.focus();
  };
  document.addEventListener("keydown", onKeyDown);
  return () => document.removeEventListener("keydown", onKeyDown);
}
