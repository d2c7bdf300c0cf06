import type { ComponentChildren } from "preact";
import { CopyField } from "../../ui/copy-field";
import { ShownOnceDialog } from "../../ui/shown-once-dialog";

type SecretDialogProps = { title: string; secret: string; children?: ComponentChildren; onClose(): void };

/** Shows the signing secret once. */
export const SecretDialog = ({ title, secret, children, onClose }: SecretDialogProps) => (
  <ShownOnceDialog title={title} onClose={onClose}>
    <CopyField
      label="Signing secret"
      value={secret}
      hint="Copy it now: it is not shown again. The receiver needs it to verify deliveries."
      isFirst
    />
    {children}
  </ShownOnceDialog>
);
