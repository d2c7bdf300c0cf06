import { useState } from "preact/hooks";
import { api, must, type Schemas } from "../../../app/api";
import { formatTime } from "../../../app/format";
import { CopyField } from "../../../ui/copy-field";
import { Dialog } from "../../../ui/dialog";
import { FormActions } from "../../../ui/dialog-actions";
import { SelectField } from "../../../ui/field";
import { Form } from "../../../ui/form";
import { ShownOnceDialog } from "../../../ui/shown-once-dialog";

const LIFETIMES = [
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "1 day" },
  { value: "604800", label: "7 days" },
  { value: "2592000", label: "30 days" },
];

type ShareDialogProps = { renderId: string; name: string; onClose(): void };

/** Makes a link with which anybody can download a render. */
export function ShareDialog({ renderId, name, onClose }: ShareDialogProps) {
  const [link, setLink] = useState<Schemas["ShareLink"] | null>(null);
  const [lifetime, setLifetime] = useState("604800");
  const create = async () => {
    const params = { path: { render_id: renderId } };
    const body = { expires_in_seconds: Number(lifetime) };
    setLink(await must(api.POST("/api/v1/renders/{render_id}/share", { params, body })));
  };
  if (link !== null) return <LinkDialog link={link} onClose={onClose} />;
  return (
    <Dialog title="Share" onClose={onClose}>
      <Form onSend={create} class="dialog-body">
        {({ isSending }) => (
          <>
            <p>
              Whoever has the link can get <strong dir="auto">{name}</strong> without an account. It ends when its time
              is over, or when the file is deleted.
            </p>
            <SelectField
              label="Works for"
              value={lifetime}
              options={LIFETIMES}
              onChange={(event) => setLifetime(event.currentTarget.value)}
            />
            <FormActions submitLabel="Create link" icon="link" isSending={isSending} onCancel={onClose} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** The link, which is shown once: the server does not keep it. */
const LinkDialog = ({ link, onClose }: { link: Schemas["ShareLink"]; onClose(): void }) => (
  <ShownOnceDialog title="Share" onClose={onClose}>
    <CopyField
      label="Link"
      value={link.url}
      hint={`Works until ${formatTime(link.expires_at)}. Copy it now: it is not shown again.`}
      isFirst
    />
  </ShownOnceDialog>
);
