import { formatDay, formatTime } from "../../app/format";
import type { ApiKey } from "../../app/keys-api";
import { findWorkspaceName, workspaces } from "../../app/session";
import { Button } from "../../ui/button";
import type { Column } from "../../ui/data-table";
import { RelativeTime } from "../../ui/relative-time";
import { Status } from "../../ui/status";
import { formatScopes, hasExpired } from "./key-texts";

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
export const createKeyColumns = (onRevoke: (key: ApiKey) => void): Column<ApiKey>[] => [
  NAME,
  ...(workspaces.value.length > 1 ? [WORKSPACE] : []),
  ...OTHERS,
  {
    title: "Actions",
    isTitleHidden: true,
    width: "5.5rem",
    cell: (key) => (
      <Button aria-label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
        Revoke
      </Button>
    ),
  },
];

function KeyWorkspace({ apiKey }: { apiKey: ApiKey }) {
  const name = findWorkspaceName(apiKey.workspace_id);
  if (name === null) return <Status text="You left it" look="bad" />;
  return (
    <span class="truncate" dir="auto" title={name}>
      {name}
    </span>
  );
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
