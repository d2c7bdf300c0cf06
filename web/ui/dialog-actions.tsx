/** The buttons at the bottom of a dialog. */
import { Button } from "./button";
import type { IconName } from "./icon";

type FormActionsProps = {
  submitLabel: string;
  isSending: boolean;
  onCancel(): void;
  look?: "primary" | "danger";
  icon?: IconName;
};

/** Buttons that cancel or submit a form. */
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

/** The button that closes a dialog that is only read. */
export const DoneFooter = ({ label = "Done", onClose }: DoneFooterProps) => (
  <div class="dialog-foot">
    <Button look="primary" data-closes onClick={onClose}>
      {label}
    </Button>
  </div>
);
