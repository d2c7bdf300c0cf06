import { api, must, type Schemas } from "../../app/api";
import { Dialog } from "../../ui/dialog";
import { FormActions } from "../../ui/dialog-actions";
import { Field } from "../../ui/field";
import { Form } from "../../ui/form";

export const NewProjectDialog = ({
  onCreated,
  onClose,
}: {
  onCreated(project: Schemas["Project"]): void;
  onClose(): void;
}) => (
  <Dialog title="New project" onClose={onClose}>
    <Form
      class="dialog-body"
      onSend={async ({ name = "" }) => {
        const project = await must(api.POST("/api/v1/projects", { body: { name: name.trim() } }));
        onClose();
        onCreated(project);
      }}
    >
      {({ errors, isSending }) => (
        <>
          <Field label="Name" name="name" maxLength={256} required isFirst error={errors.name} />
          <FormActions submitLabel="Create" isSending={isSending} onCancel={onClose} />
        </>
      )}
    </Form>
  </Dialog>
);
