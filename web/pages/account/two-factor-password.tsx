import type { ComponentChildren } from "preact";
import { PasswordField } from "../../ui/credential-fields";
import { Dialog } from "../../ui/dialog";
import { FormActions } from "../../ui/dialog-actions";
import { Form } from "../../ui/form";

type PasswordDialogProps = {
  title: string;
  /** If false, no password is requested: the API may require a new sign-in instead. */
  hasPassword: boolean;
  confirmLabel: string;
  look: "primary" | "danger";
  onSend(body: { password?: string }): Promise<void>;
  onClose(): void;
  /** Describes what changes. */
  children: ComponentChildren;
};

/** Asks for the password, which the API requires for changes of the second factor. */
export const TwoFactorPassword = ({
  title,
  hasPassword,
  confirmLabel,
  look,
  onSend,
  onClose,
  children,
}: PasswordDialogProps) => (
  <Dialog title={title} onClose={onClose}>
    <Form class="dialog-body" onSend={({ password }) => onSend(password === undefined ? {} : { password })}>
      {({ errors, isSending }) => (
        <>
          <p>{children}</p>
          {hasPassword && <PasswordField isFirst error={errors.password} />}
          <FormActions submitLabel={confirmLabel} look={look} isSending={isSending} onCancel={onClose} />
        </>
      )}
    </Form>
  </Dialog>
);
