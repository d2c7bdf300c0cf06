/** The buttons at the end of a dialog. */
import { Button } from "./button";
import type { IconName } from "./icon";

type FormActionsProps = {
  submitLabel: string;
  isSending: boolean;
  onCancel(): void;
  look?: "primary" | "danger";
  icon?: IconName;
};

/** Cancels a form or submits it. */
export const FormActions = ({ submitLabel, isSending, onCancel, look = "primary", icon }: FormActionsProps) => (
  <div class="toolbar">
    <span class="spacer" />
    <Button onClick={onCancel}>Cancel</Button>
    <Button look={look} icon={icon} type="submit" isBusy={isSending}>
      {submitLabel}
    </Button>
  </div>
);

type DoneFooterProps = { label?: string; onClose(): void };

/** Closes a dialog whose only action is to be read. */
export const DoneFooter = ({ label = "Done", onClose }: DoneFooterProps) => (
  <div class="dialog-foot">
    <Button look="primary" data-closes onClick={onClose}>
      {label}
    </Button>
  </div>
);
