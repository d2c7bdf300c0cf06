import type { ComponentChildren } from "preact";
import { Dialog } from "./dialog";
import { DoneFooter } from "./dialog-actions";

type ShownOnceDialogProps = {
  title: string;
  isWide?: boolean;
  closeLabel?: string;
  onClose(): void;
  children: ComponentChildren;
};

/**
 * Shows a secret or a link that is not shown again. Only its button closes it, so that the secret is not lost by
 * accident.
 */
export const ShownOnceDialog = ({ title, isWide = false, closeLabel, onClose, children }: ShownOnceDialogProps) => (
  <Dialog title={title} isWide={isWide} isKept onClose={onClose}>
    <div class="dialog-body">{children}</div>
    <DoneFooter label={closeLabel} onClose={onClose} />
  </Dialog>
);
