import type { ComponentChildren } from "preact";
import { PasswordField } from "../../ui/credential-fields";
import { Dialog } from "../../ui/dialog";
import { FormActions } from "../../ui/dialog-actions";
import { Form } from "../../ui/form";

type PasswordDialogProps = {
  title: string;
  /** An account without a password is asked for nothing: the API may require a new sign-in. */
  hasPassword: boolean;
  confirmLabel: string;
  look: "primary" | "danger";
  onSend(body: { password?: string }): Promise<void>;
  onClose(): void;
  /** What changes. */
  children: ComponentChildren;
};

/** Asks for the password, which the API requires for a change of the second factor. */
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
