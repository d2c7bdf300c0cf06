import createClient from "openapi-fetch";
import { useState } from "preact/hooks";
import type { components, paths } from "../../../dist/api-types/keys";
import { MAX_KEY_NAME_CHARACTERS } from "../../../src/domain/field-limits";
import { DAY_MS } from "../../../src/domain/time";
import { must, sendToServer } from "../../app/api";
import { toWorkspaceName, workspace, workspaces } from "../../app/session";
import { Field, type FormValues, SelectField } from "../../ui/form";
import { FormDialog } from "../../ui/form-dialog";

/** The scopes that the form offers. */
export const SCOPE_CHOICES = [
  { value: "read write", label: "Read and write" },
  { value: "read", label: "Read only" },
  { value: "write", label: "Write only" },
];

type NewKeyDialogProps = { onCreated(key: NewApiKey): void; onClose(): void };

/** Asks for the permissions of a new key. */
export function NewKeyDialog({ onCreated, onClose }: NewKeyDialogProps) {
  const [expiry, setExpiry] = useState(DEFAULT_EXPIRY);
  const [workspaceId, setWorkspaceId] = useState(workspace.value?.id ?? "");
  const role = workspaces.value.find(({ id }) => id === workspaceId)?.role;
  const create = async ({ name = "", scopes = "", expires_at: day = "" }: FormValues) => {
    const body = {
      name: name.trim(),
      scopes: scopes.split(" ") as ("read" | "write")[],
      workspace_id: workspaceId,
      expires_at: toExpiryTime(expiry, day, Date.now()),
    };
    onCreated(await must(keysApi.POST("/api-keys", { body })));
  };
  return (
    <FormDialog title="New API key" submitLabel="Create" onSend={create} onClose={onClose}>
      <Field
        label="Name"
        name="name"
        maxLength={MAX_KEY_NAME_CHARACTERS}
        required
        isFirst
        hint="Where the key is used, such as “Ingest server”."
      />
      {workspaces.value.length > 1 && (
        <SelectField
          label="Workspace"
          value={workspaceId}
          options={workspaces.value.map((one) => ({ value: one.id, label: toWorkspaceName(one) }))}
          onChange={(event) => setWorkspaceId(event.currentTarget.value)}
        />
      )}
      <SelectField
        key={role}
        label="Scope"
        name="scopes"
        // A key cannot do more than its owner.
        options={role === "viewer" ? SCOPE_CHOICES.filter(({ value }) => value === "read") : SCOPE_CHOICES}
      />
      <SelectField
        label="Expires"
        value={expiry}
        options={EXPIRY_CHOICES}
        onChange={(event) => setExpiry(event.currentTarget.value)}
      />
      {expiry === "date" && (
        <Field label="Last day" name="expires_at" type="date" required isFirst min={toDateValue(new Date())} />
      )}
    </FormDialog>
  );
}

/** Expiration times of API keys. */
const EXPIRY_CHOICES = [
  { value: "7", label: "In 7 days" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In 1 year" },
  { value: "date", label: "On a date…" },
  { value: "never", label: "Never" },
];

const DEFAULT_EXPIRY = "90";

/**
 * Returns the time of a choice as ISO 8601, or null for never. A `date` such as `2027-01-31` stands for the end of that
 * day in the user's time zone.
 */
function toExpiryTime(choice: string, date: string, now: number): string | null {
  if (choice === "never") return null;
  const time = choice === "date" ? new Date(`${date}T23:59:59`) : new Date(now + Number(choice) * DAY_MS);
  return time.toISOString();
}

/** Returns the value of a date field for a time, in the user's time zone. */
function toDateValue(time: Date): string {
  const parts = [time.getFullYear(), time.getMonth() + 1, time.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}

export type ApiKey = components["schemas"]["ApiKey"];
export type NewApiKey = components["schemas"]["ApiKeyWithSecret"];

export const keysApi = createClient<paths>({
  baseUrl: location.origin,
  credentials: "same-origin",
  fetch: sendToServer,
});
