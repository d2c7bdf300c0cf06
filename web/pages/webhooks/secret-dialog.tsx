import type { ComponentChildren } from "preact";
import { CopyField } from "../../ui/copy-field";
import { Dialog } from "../../ui/dialog";
import { DoneFooter } from "../../ui/dialog-actions";

type SecretDialogProps = { title: string; secret: string; children?: ComponentChildren; onClose(): void };

/** The signing secret, which is shown once. */
export const SecretDialog = ({ title, secret, children, onClose }: SecretDialogProps) => (
  <Dialog title={title} onClose={onClose}>
    <div class="dialog-body">
      <CopyField
        label="Signing secret"
        value={secret}
        hint="Copy it now: it is not shown again. The receiver needs it to verify deliveries."
        isFirst
      />
      {children}
    </div>
    <DoneFooter onClose={onClose} />
  </Dialog>
);
