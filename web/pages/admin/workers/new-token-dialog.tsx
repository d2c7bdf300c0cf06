import { useState } from "preact/hooks";
import { api, type Schemas } from "../../../app/api";
import { CodeBlock } from "../../../ui/code-block";
import { CopyField } from "../../../ui/copy-field";
import { Dialog } from "../../../ui/dialog";
import { FormActions } from "../../../ui/dialog-actions";
import { Field } from "../../../ui/field";
import { Form } from "../../../ui/form";
import { ShownOnceDialog } from "../../../ui/shown-once-dialog";
import { mustAdmin } from "../admin-api";

type CreatedToken = Schemas["CreatedWorkerToken"];
type NewTokenDialogProps = { onCreated(): void; onClose(): void };

/** Creates a join token and shows how to use it on another machine. */
export function NewTokenDialog({ onCreated, onClose }: NewTokenDialogProps) {
  const [created, setCreated] = useState<CreatedToken | null>(null);
  if (created !== null) return <CreatedTokenDialog created={created} onClose={onClose} />;
  return (
    <Dialog title="Add worker" onClose={onClose}>
      <Form
        class="dialog-body"
        onSend={async ({ name = "" }) => {
          setCreated(await mustAdmin(api.POST("/api/v1/admin/worker-tokens", { body: { name: name.trim() } })));
          onCreated();
        }}
      >
        {({ errors, isSending }) => (
          <>
            <Field
              label="Name"
              name="name"
              maxLength={63}
              required
              isFirst
              autocomplete="off"
              hint="The other machine's name, such as edit-suite-2. Use letters, digits, dots, hyphens and underscores."
              error={errors.name}
            />
            <FormActions submitLabel="Create token" isSending={isSending} onCancel={onClose} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

const createCommand = (token: string): string =>
  `OFFCUT_TOKEN=${token} \\\n  offcut worker --head ${location.origin} \\\n  --redis REDIS_URL`;

function CreatedTokenDialog({ created, onClose }: { created: CreatedToken; onClose(): void }) {
  const token = created.token ?? "";
  return (
    <ShownOnceDialog title="Join token created" isWide onClose={onClose}>
      <CopyField
        label="Join token"
        value={token}
        hint={`For ${created.name} only. Copy it now: it is not shown again.`}
        isFirst
      />
      <div class="field">
        <span class="label">On the other machine</span>
        <CodeBlock label="Command for the worker" code={createCommand(token)} />
        <span class="hint">
          REDIS_URL is the redis_url of this server, as the other machine reaches it. Run{" "}
          <code>./install.sh --worker --systemd</code> there instead to install a service.
        </span>
      </div>
    </ShownOnceDialog>
  );
}
