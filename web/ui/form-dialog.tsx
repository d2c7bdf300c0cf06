/** Dialogs with a form. */
import type { ComponentChildren } from "preact";
import { Dialog, type DialogProps, FormActions, type FormActionsProps } from "./dialog";
import { Field, Form, type FormProps } from "./form";

type FormDialogProps = Pick<DialogProps, "title" | "isWide" | "onClose"> &
  Pick<FormActionsProps, "submitLabel" | "look" | "icon"> &
  Pick<FormProps, "onSend"> & {
    /** Receives the error of each field by its name. */
    children: (errors: Record<string, string>) => ComponentChildren;
  };

/** A dialog that sends a form. `onSend` closes the dialog, because some forms open another one. */
export const FormDialog = ({ title, isWide, onSend, onClose, children, ...actions }: FormDialogProps) => (
  <Dialog title={title} isWide={isWide} onClose={onClose}>
    <Form class="dialog-body" onSend={onSend}>
      {({ errors, isSending }) => (
        <>
          {children(errors)}
          <FormActions {...actions} isSending={isSending} onCancel={onClose} />
        </>
      )}
    </Form>
  </Dialog>
);

type NameDialogProps = Pick<FormDialogProps, "title" | "submitLabel" | "onClose"> & {
  hint?: string;
  value?: string;
  maxLength: number;
  onSend(name: string): Promise<void>;
};

/** Asks for a name. */
export const NameDialog = ({ hint, value, maxLength, onSend, ...props }: NameDialogProps) => (
  <FormDialog {...props} onSend={({ name = "" }) => onSend(name.trim())}>
    {(errors) => (
      <>
        {hint && <p class="soft">{hint}</p>}
        <Field label="Name" name="name" maxLength={maxLength} required isFirst value={value} error={errors.name} />
      </>
    )}
  </FormDialog>
);
