import { useMemo, useState } from "preact/hooks";
import { must } from "../../app/api";
import { useList } from "../../app/cache";
import { type ApiKey, keysApi, type NewApiKey } from "../../app/keys-api";
import { workspaces } from "../../app/session";
import { Button } from "../../ui/button";
import { CodeBlock } from "../../ui/code-block";
import { DataTable } from "../../ui/data-table";
import { Page } from "../../ui/page";
import { Section } from "../../ui/section";
import { Empty } from "../../ui/states";
import { CreatedKeyDialog } from "./created-key-dialog";
import { createKeyColumns } from "./key-columns";
import { createExample, KEY_PLACEHOLDER } from "./key-texts";
import { NewKeyDialog } from "./new-key-dialog";
import { RevokeDialog } from "./revoke-dialog";

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
        rowKey={({ id }) => id}
        empty={
          <Empty title="No API keys" icon="key">
            <p>Create a separate key for each program, so that you can revoke each one without affecting the others.</p>
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
          onOutdated={() => void list.reload()}
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
      <a href="/docs">Documentation of the API</a> · <a href="/openapi.json">OpenAPI document</a>
    </p>
  </Section>
);
