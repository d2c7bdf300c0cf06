import { MAX_NAME_CHARACTERS } from "../../../src/domain/field-limits";
import { Dialog } from "../../ui/dialog";
import { FormActions } from "../../ui/dialog-actions";
import { Field } from "../../ui/field";
import { Form } from "../../ui/form";

type NameDialogProps = {
  title: string;
  submitLabel: string;
  hint?: string;
  value?: string;
  onSend(name: string): Promise<void>;
  onClose(): void;
};

/** Asks for the name of a workspace. */
export const NameDialog = ({ title, submitLabel, hint, value = "", onSend, onClose }: NameDialogProps) => (
  <Dialog title={title} onClose={onClose}>
    <Form class="dialog-body" onSend={({ name = "" }) => onSend(name.trim())}>
      {({ errors, isSending }) => (
        <>
          {hint && <p class="soft">{hint}</p>}
          <Field
            label="Name"
            name="name"
            maxLength={MAX_NAME_CHARACTERS}
            required
            isFirst
            value={value}
            error={errors.name}
          />
          <FormActions submitLabel={submitLabel} isSending={isSending} onCancel={onClose} />
        </>
      )}
    </Form>
  </Dialog>
);
