import { useRef, useState } from "preact/hooks";
import { MAX_CREDITS, MAX_NOTE_CHARACTERS } from "../../../../src/domain/field-limits";
import { api, randomKey } from "../../../app/api";
import { toNumber } from "../../../app/english";
import { formatCount } from "../../../app/format";
import { showToast } from "../../../app/toasts";
import { ConfirmDialog } from "../../../ui/dialog";
import { Field, Form, SelectField } from "../../../ui/form";
import { Section } from "../../../ui/section";
import { mustAdmin } from "../admin-frame";
import type { AdminUserDetail } from "./user-texts";

type CreditsSectionProps = { user: AdminUserDetail; onChanged(): Promise<void> };
type Change = { delta: number; note: string | null; workspace_id: string };

/** Shows the balance, and a form that adds or removes credits. */
export function CreditsSection({ user, onChanged }: CreditsSectionProps) {
  const [form, setForm] = useState(0);
  // If the response was lost, sending the same key again does not apply the change twice.
  const unanswered = useRef({ text: "", key: "" });
  const [removal, setRemoval] = useState<Change | null>(null);
  const workspaces = [
    { value: user.id, label: "Personal" },
    ...user.contents.shared_workspaces.map(({ id, name }) => ({ value: id, label: name })),
  ];
  const send = async (change: Change) => {
    const text = JSON.stringify(change);
    if (unanswered.current.text !== text) unanswered.current = { text, key: randomKey() };
    const params = { path: { user_id: user.id }, header: { "Idempotency-Key": unanswered.current.key } };
    await mustAdmin(api.POST("/api/v1/admin/users/{user_id}/credits", { params, body: change }));
    unanswered.current = { text: "", key: "" };
    setForm(form + 1);
    const amount = formatCount(Math.abs(change.delta), "credit");
    showToast({ kind: "info", text: `${change.delta > 0 ? "Added" : "Removed"} ${amount}.` });
    await onChanged();
  };
  return (
    <Section
      title="Credits"
      hint={
        <>
          <strong class="number">{toNumber(user.credits)}</strong> available in the personal workspace. Credits held for
          running work are not included.
        </>
      }
    >
      <Form
        submitLabel="Change credits"
        look="default"
        key={form}
        class="inline-form"
        onSend={async ({ delta = "", note = "", workspace_id = user.id }) => {
          const change = { delta: Number(delta), note: note.trim() || null, workspace_id };
          if (change.delta < 0) setRemoval(change);
          else await send(change);
        }}
      >
        <Field
          label="Credits"
          name="delta"
          type="number"
          min={-MAX_CREDITS}
          max={MAX_CREDITS}
          step={1}
          required
          hint="A negative number removes credits."
        />
        <Field label="Note" name="note" maxLength={MAX_NOTE_CHARACTERS} hint="For the audit log." />
        {workspaces.length > 1 && <SelectField label="Workspace" name="workspace_id" options={workspaces} />}
      </Form>
      {removal !== null && (
        <ConfirmDialog
          title={`Remove ${formatCount(-removal.delta, "credit")}?`}
          confirmLabel="Remove credits"
          onConfirm={() => send(removal)}
          onClose={() => setRemoval(null)}
        >
          <p>
            {removal.workspace_id === user.id ? (
              <>
                <strong dir="auto">{user.email}</strong> loses {formatCount(-removal.delta, "credit")} of{" "}
                {toNumber(user.credits)}.
              </>
            ) : (
              <>
                All members of the workspace{" "}
                <strong dir="auto">{workspaces.find(({ value }) => value === removal.workspace_id)?.label}</strong> lose{" "}
                {formatCount(-removal.delta, "credit")}.
              </>
            )}{" "}
            Work that was paid for is not affected.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}
