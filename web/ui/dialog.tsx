import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, type ButtonProps, IconButton } from "./button";
import { ErrorMessage } from "./states";
import { useBusy } from "./use-busy";

export type DialogProps = {
  title: string;
  isWide?: boolean;
  /** If true, only a button with `data-closes` closes the dialog. Escape moves the focus to that button. */
  isKept?: boolean;
  onClose(): void;
  children: ComponentChildren;
};

/**
 * A modal dialog. The browser keeps the focus inside. When the dialog closes, the focus returns to its previous
 * position.
 */
export function Dialog({ title, isWide = false, isKept = false, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // A layout effect opens it before the next key press. Its fields cannot receive the focus until it is open.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const element = dialog.current;
    element?.showModal();
    element?.querySelector<HTMLElement>("[data-first]")?.focus();
    return () => {
      // While the dialog is open, elements outside of it cannot receive the focus.
      element?.close();
      const isThere = before instanceof HTMLElement && before.isConnected;
      // The element that opened the dialog may no longer exist.
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
 * Makes Escape move the focus to the button that closes the dialog. Browsers close a dialog on the second Escape even
 * if the `cancel` event was prevented, but not if the key press was. The key press goes to the document when nothing in
 * the dialog has the focus.
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

type DoneFooterProps = { label?: string; onClose(): void };

/** The button that closes a dialog that is only read. */
export const DoneFooter = ({ label = "Done", onClose }: DoneFooterProps) => (
  <div class="dialog-foot">
    <Button look="primary" data-closes onClick={onClose}>
      {label}
    </Button>
  </div>
);

type ConfirmProps = {
  title: string;
  /** A description of the losses. */
  children: ComponentChildren;
  confirmLabel: string;
  closeLabel?: string;
  onConfirm(): Promise<void>;
  onClose(): void;
};

/** Asks for confirmation before something is lost. If the action fails, stays open and shows the error. */
export function ConfirmDialog({
  title,
  children,
  confirmLabel,
  closeLabel = "Cancel",
  onConfirm,
  onClose,
}: ConfirmProps) {
  const { isBusy, error, run } = useBusy({ isShown: true });
  const confirm = () =>
    run(async () => {
      await onConfirm();
      onClose();
    });
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-body">
        <div>{children}</div>
        <ErrorMessage error={error} />
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>{closeLabel}</Button>
        <Button look="danger" isBusy={isBusy} onClick={() => void confirm()}>
          {confirmLabel}
        </Button>
      </div>
    </Dialog>
  );
}

type ConfirmButtonProps = Omit<ConfirmProps, "onClose"> & {
  button: Omit<ButtonProps, "onClick">;
  /** If false, the button is hidden, but an open dialog stays open. */
  isOffered?: boolean;
};

/** A button that acts after a confirmation. */
export function ConfirmButton({ button, isOffered = true, ...dialog }: ConfirmButtonProps) {
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      {isOffered && <Button {...button} onClick={() => setIsAsking(true)} />}
      {isAsking && <ConfirmDialog {...dialog} onClose={() => setIsAsking(false)} />}
    </>
  );
}
