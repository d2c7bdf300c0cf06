import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button";
import { Dialog } from "./dialog";
import { ErrorMessage } from "./error-message";

type ConfirmProps = {
  title: string;
  /** Describes what will be lost. */
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
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const run = async () => {
    setIsBusy(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (thrown) {
      setError(thrown);
      setIsBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-body">
        <div>{children}</div>
        <div role="alert">{error !== null && <ErrorMessage error={error} />}</div>
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>{closeLabel}</Button>
        <Button look="danger" isBusy={isBusy} onClick={run}>
          {confirmLabel}
        </Button>
      </div>
    </Dialog>
  );
}
