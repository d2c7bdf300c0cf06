import { MAX_NAME_CHARACTERS } from "../../../src/domain/field-limits";
import { isBilled, type Workspace } from "../../app/session";
import { Dialog, FormActions } from "../../ui/dialog";
import { Field, Form } from "../../ui/form";

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

export type Role = Workspace["role"];

export const ROLES: { value: Role; label: string }[] = [
  { value: "viewer", label: "Viewer" },
  { value: "editor", label: "Editor" },
  { value: "owner", label: "Owner" },
];

/** Describes the permissions of a role. */
export const describeRole = (role: Role): string =>
  ({
    viewer: "can view, play and download everything, but cannot change anything",
    editor: `can also upload, cut, render and delete${isBilled.value ? ", using the workspace's credits" : ""}`,
    owner: `can also manage members${isBilled.value ? ", credits" : ""} and the workspace itself`,
  })[role];

/** Returns the name of a role in a sentence, such as "an editor". */
export const withArticle = (role: Role): string => (role === "viewer" ? "a viewer" : `an ${role}`);

export const toRoleName = (role: Role): string => ROLES.find(({ value }) => value === role)?.label ?? role;
