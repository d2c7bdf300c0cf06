/** Dialogs with a form. */
import { Button } from "./button";
import { Dialog, type DialogProps } from "./dialog";
import { Field, Form, type FormProps } from "./form";

type FormDialogProps = Pick<DialogProps, "title" | "isWide" | "onClose"> & Omit<FormProps, "class" | "footer">;

/** A dialog that sends a form. `onSend` closes the dialog, because some forms open another one. */
export const FormDialog = ({ title, isWide, onClose, ...form }: FormDialogProps) => (
  <Dialog title={title} isWide={isWide} onClose={onClose}>
    <Form
      {...form}
      class="dialog-body"
      footer={(submit) => (
        <div class="toolbar">
          <span class="spacer" />
          <Button onClick={onClose}>Cancel</Button>
          {submit}
        </div>
      )}
    />
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
    {hint && <p class="soft">{hint}</p>}
    <Field label="Name" name="name" maxLength={maxLength} required isFirst value={value} />
  </FormDialog>
);
