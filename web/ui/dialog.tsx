import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { IconButton } from "./button";

type DialogProps = { title: string; isWide?: boolean; onClose(): void; children: ComponentChildren };

/** A modal dialog. The browser keeps the focus inside; it returns to where it was when the dialog is closed. */
export function Dialog({ title, isWide = false, onClose, children }: DialogProps) {
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
  return (
    <dialog
      ref={dialog}
      class={isWide ? "dialog wide" : "dialog"}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <IconButton icon="close" label="Close" onClick={onClose} />
      </div>
      {children}
    </dialog>
  );
}
