import createClient from "openapi-fetch";
import { useMemo, useState } from "preact/hooks";
import type { components, paths } from "../../../dist/api-types/keys";
import { MAX_KEY_NAME_CHARACTERS } from "../../../src/domain/field-limits";
import { DAY_MS } from "../../../src/domain/time";
import { must, sendToServer } from "../../app/api";
import { useList } from "../../app/cache";
import { formatDay, formatTime } from "../../app/format";
import { toDateValue } from "../../app/rare-formats";
import { findWorkspaceName, toWorkspaceName, workspace, workspaces } from "../../app/session";
import { showToast } from "../../app/toasts";
import { SETTINGS } from "../../shell/navigation";
import { Button } from "../../ui/button";
import { CodeBlock, CopyField, ShownOnceDialog } from "../../ui/copy-field";
import { type Column, createActionsColumn, DataTable, Truncated } from "../../ui/data-table";
import { ConfirmDialog } from "../../ui/dialog";
import { Field, type FormValues, SelectField } from "../../ui/form";
import { FormDialog } from "../../ui/form-dialog";
import { Page } from "../../ui/page";
import { Section } from "../../ui/section";
import { Empty } from "../../ui/states";
import { Status } from "../../ui/status";
import { RelativeTime } from "../../ui/time";

/** Maximum number of keys of an account. */
const PAGE_SIZE = 100;

/** The user's API keys in all workspaces. */
export default function KeysPage() {
  const [isCreating, setIsCreating] = useState(false);
  const [created, setCreated] = useState<NewApiKey | null>(null);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  const list = useList<ApiKey>(
    ["keys"],
    (cursor, signal) => {
      const query = { limit: PAGE_SIZE, cursor: cursor ?? undefined };
      return must(keysApi.GET("/api-keys", { params: { query }, signal }));
    },
    { refreshMs: 60_000 },
  );
  const columns = useMemo(() => createKeyColumns(setRevoking), [workspaces.value]);
  return (
    <Page
      title="API keys"
      crumb={SETTINGS}
      actions={
        <Button icon="plus" look="primary" onClick={() => setIsCreating(true)}>
          New API key
        </Button>
      }
    >
      <p class="soft">
        A key lets a program act on your behalf: upload recordings, cut, render and download. Each device that you
        approve also gets a key.
      </p>
      <DataTable
        caption="API keys"
        columns={columns}
        list={list}
        empty={
          <Empty title="No API keys" icon="key">
            <p>Create a separate key for each program, so that you can revoke each one without affecting the others.</p>
            <Button icon="plus" onClick={() => setIsCreating(true)}>
              Create a key
            </Button>
          </Empty>
        }
      />
      <Usage />
      {isCreating && (
        <NewKeyDialog
          onCreated={(key) => {
            setIsCreating(false);
            setCreated(key);
            void list.reload();
          }}
          onClose={() => setIsCreating(false)}
        />
      )}
      {created && <CreatedKeyDialog created={created} onClose={() => setCreated(null)} />}
      {revoking && (
        <RevokeDialog
          apiKey={revoking}
          onRevoked={() => list.change((items) => items.filter(({ id }) => id !== revoking.id))}
          onClose={() => setRevoking(null)}
        />
      )}
    </Page>
  );
}

const Usage = () => (
  <Section
    title="Use a key"
    hint="Send the key in the header Authorization. Keep it out of web pages and repositories: anyone with the key can use its permissions."
  >
    <CodeBlock label="Example call" code={createExample(KEY_PLACEHOLDER, ["read"])} />
    <p>
      <a href="/docs">API documentation</a> · <a href="/openapi.json">OpenAPI document</a>
    </p>
  </Section>
);

/** Shows a new key once, because the server stores only its hash. */
const CreatedKeyDialog = ({ created, onClose }: { created: NewApiKey; onClose(): void }) => (
  <ShownOnceDialog title="API key created" isWide onClose={onClose}>
    <CopyField
      label="API key"
      value={created.key ?? ""}
      hint="Copy it now and keep it in a safe place: it is not shown again."
      isFirst
    />
    <div class="field">
      <span class="label">Try it</span>
      <CodeBlock label="Example call" code={createExample(created.key ?? KEY_PLACEHOLDER, created.scopes)} />
    </div>
  </ShownOnceDialog>
);

type RevokeDialogProps = { apiKey: ApiKey; onRevoked(): void; onClose(): void };

/** Asks for confirmation before a key is revoked. */
function RevokeDialog({ apiKey, onRevoked, onClose }: RevokeDialogProps) {
  const { id, name, prefix, last_used_at: usedAt, workspace_id: workspaceId } = apiKey;
  const where = findWorkspaceName(workspaceId);
  return (
    <ConfirmDialog
      title="Revoke this key?"
      confirmLabel="Revoke key"
      onConfirm={async () => {
        await must(keysApi.DELETE("/api-keys/{key_id}", { params: { path: { key_id: id } } }));
        showToast({ kind: "info", text: `The key “${name}” was revoked.` });
        onRevoked();
      }}
      onClose={onClose}
    >
      <div class="form">
        <p>
          Every program that uses <strong dir="auto">{name}</strong> (<code>{prefix}…</code>) stops working immediately:
          its requests{where !== null && <span dir="auto">in the workspace “{where}” </span>}fail with status 401, and
          its unfinished uploads cannot continue.{" "}
          {usedAt === null ? "The key was never used." : `It was last used ${formatTime(usedAt)}.`}
        </p>
        <p>
          Recordings, cuts and renders are kept, and jobs started with the key continue. A device that has the key must
          be approved again. This cannot be undone.
        </p>
      </div>
    </ConfirmDialog>
  );
}

const NAME: Column<ApiKey> = {
  title: "Name",
  width: "minmax(0, 2fr)",
  cell: ({ name, prefix }) => (
    <span class="key-name">
      <strong class="truncate" dir="auto" title={name}>
        {name}
      </strong>
      <code class="soft">{prefix}…</code>
    </span>
  ),
};

const WORKSPACE: Column<ApiKey> = { title: "Workspace", cell: (key) => <KeyWorkspace apiKey={key} /> };

const OTHERS: Column<ApiKey>[] = [
  { title: "Scope", cell: ({ scopes }) => formatScopes(scopes) },
  { title: "Created", cell: ({ created_at: at }) => <RelativeTime iso={at} /> },
  { title: "Last used", cell: ({ last_used_at: at }) => (at === null ? "Never" : <RelativeTime iso={at} />) },
  { title: "Expires", cell: (key) => <Expiry apiKey={key} /> },
];

/** Returns the columns of the key table. Users with several workspaces also see the workspace. */
const createKeyColumns = (onRevoke: (key: ApiKey) => void): Column<ApiKey>[] => [
  NAME,
  ...(workspaces.value.length > 1 ? [WORKSPACE] : []),
  ...OTHERS,
  createActionsColumn("5.5rem", (key) => (
    <Button aria-label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
      Revoke
    </Button>
  )),
];

function KeyWorkspace({ apiKey }: { apiKey: ApiKey }) {
  const name = findWorkspaceName(apiKey.workspace_id);
  if (name === null) return <Status text="You left it" look="bad" />;
  return <Truncated text={name} />;
}

function Expiry({ apiKey }: { apiKey: ApiKey }) {
  if (apiKey.expires_at === null) return <>Never</>;
  if (hasExpired(apiKey)) return <Status text="Expired" look="bad" />;
  return (
    <time dateTime={apiKey.expires_at} title={formatTime(apiKey.expires_at)}>
      {formatDay(apiKey.expires_at)}
    </time>
  );
}

/** Replaces a key that is not shown. */
const KEY_PLACEHOLDER = "<API_KEY>";

/** Returns the label of a key's scopes. */
function formatScopes(scopes: readonly string[]): string {
  const value = scopes.toSorted().join(" ");
  return SCOPE_CHOICES.find((choice) => choice.value === value)?.label ?? value;
}

const hasExpired = ({ expires_at }: ApiKey): boolean => expires_at !== null && Date.parse(expires_at) <= Date.now();

/** Returns an example call of this server that the key's scopes allow. */
function createExample(key: string, scopes: readonly string[]): string {
  const call = `curl "${location.origin}/v1/projects" \\\n  -H "Authorization: Bearer ${key}"`;
  if (scopes.includes("read")) return call;
  return `${call} \\\n  -H "Content-Type: application/json" \\\n  -d '{"name": "Talks"}'`;
}

/** The scopes that the form offers. */
const SCOPE_CHOICES = [
  { value: "read write", label: "Read and write" },
  { value: "read", label: "Read only" },
  { value: "write", label: "Write only" },
];

type NewKeyDialogProps = { onCreated(key: NewApiKey): void; onClose(): void };

/** Asks for the permissions of a new key. */
function NewKeyDialog({ onCreated, onClose }: NewKeyDialogProps) {
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
          onChange={setWorkspaceId}
        />
      )}
      <SelectField
        key={role}
        label="Scope"
        name="scopes"
        // A key cannot do more than its owner.
        options={role === "viewer" ? SCOPE_CHOICES.filter(({ value }) => value === "read") : SCOPE_CHOICES}
      />
      <SelectField label="Expires" value={expiry} options={EXPIRY_CHOICES} onChange={setExpiry} />
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

type ApiKey = components["schemas"]["ApiKey"];
type NewApiKey = components["schemas"]["ApiKeyWithSecret"];

const keysApi = createClient<paths>({
  baseUrl: location.origin,
  credentials: "same-origin",
  fetch: sendToServer,
});
