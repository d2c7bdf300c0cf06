/** Dialogs that ask for the name of a version or of the recording. */
import type { ComponentChildren } from "preact";
import { MAX_CUT_NAME_CHARACTERS, MAX_CUT_NOTE_CHARACTERS } from "../../../src/domain/field-limits";
import { Dialog, FormActions } from "../../ui/dialog";
import { Field, Form, type FormValues } from "../../ui/form";

type FormDialogProps = {
  title: string;
  submitLabel: string;
  onSend(values: FormValues): Promise<void>;
  onClose(): void;
  children: (errors: Record<string, string>) => ComponentChildren;
};

const FormDialog = ({ title, submitLabel, onSend, onClose, children }: FormDialogProps) => (
  <Dialog title={title} onClose={onClose}>
    <Form
      class="dialog-body"
      onSend={async (values) => {
        await onSend(values);
        onClose();
      }}
    >
      {({ errors, isSending }) => (
        <>
          {children(errors)}
          <FormActions submitLabel={submitLabel} isSending={isSending} onCancel={onClose} />
        </>
      )}
    </Form>
  </Dialog>
);

type NameDialogProps = Pick<FormDialogProps, "title" | "submitLabel" | "onClose"> & {
  value: string;
  onSend(name: string): Promise<void>;
};

/** Asks for the name of a new version. */
export const NameDialog = ({ value, onSend, ...props }: NameDialogProps) => (
  <FormDialog {...props} onSend={({ name = "" }) => onSend(name.trim())}>
    {(errors) => (
      <Field
        label="Name"
        name="name"
        maxLength={MAX_CUT_NAME_CHARACTERS}
        required
        isFirst
        value={value}
        error={errors.name}
      />
    )}
  </FormDialog>
);

type LabelDialogProps = {
  name: string;
  note: string;
  onSend(label: { name: string; note: string }): Promise<void>;
  onClose(): void;
};

/** Changes the name and the note of a version. */
export const LabelDialog = ({ name, note, onSend, onClose }: LabelDialogProps) => (
  <FormDialog
    title="Rename"
    submitLabel="Save"
    onSend={(values) => onSend({ name: (values.name ?? "").trim(), note: (values.note ?? "").trim() })}
    onClose={onClose}
  >
    {(errors) => (
      <>
        <Field label="Name" name="name" maxLength={MAX_CUT_NAME_CHARACTERS} isFirst value={name} error={errors.name} />
        <Field label="Note" name="note" maxLength={MAX_CUT_NOTE_CHARACTERS} value={note} error={errors.note} />
      </>
    )}
  </FormDialog>
);
