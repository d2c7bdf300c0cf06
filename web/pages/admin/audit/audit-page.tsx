import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../../../app/api";
import { type List, useOffsetList, useRead } from "../../../app/cache";
import { formatCount, formatExactTime } from "../../../app/format";
import { saveFile } from "../../../app/save-file";
import { isBilled } from "../../../app/session";
import { isDay, isOneOf, isSearch, isUuid, toDayStart, useQuery, withoutEmpty } from "../../../app/use-query";
import { Button } from "../../../ui/button";
import { type Column, DataTable, Truncated } from "../../../ui/data-table";
import { Dialog } from "../../../ui/dialog";
import { DateField, Filter, FilterBar, SearchField } from "../../../ui/filter-bar";
import { Icon } from "../../../ui/icon";
import { Menu } from "../../../ui/menu";
import { Facts } from "../../../ui/section";
import { Empty } from "../../../ui/states";
import { RelativeTime } from "../../../ui/time";
import { useBusy } from "../../../ui/use-busy";
import { AdminFrame, mustAdmin } from "../admin-frame";
import { ACTION_TEXTS, type AuditEntry, formatDetails, nameActor, nameKind, nameTarget } from "./audit-texts";

const ACTIONS = [
  { value: "", label: "All actions" },
  ...Object.entries(ACTION_TEXTS)
    .map(([value, label]) => ({ value, label }))
    .toSorted((a, b) => a.label.localeCompare(b.label, "en")),
];
/** Actions of a server where recordings cost credits. */
const BILLING_ACTIONS = /order|credits|charge|subscription/;

/** `current` stays an option, because a link may name it. */
const listActions = (current: string) =>
  isBilled.value ? ACTIONS : ACTIONS.filter(({ value }) => value === current || !BILLING_ACTIONS.test(value));

const CHECKS = {
  user: isSearch,
  action: isOneOf(ACTIONS),
  from: isDay,
  to: isDay,
  target_id: isUuid,
  actor_id: isUuid,
};

/** The audit log: who did what, when and from where. */
export default function AuditPage() {
  const [query, change] = useQuery(CHECKS);
  // Changing this restarts the list instead of reloading all of its pages.
  const [start, setStart] = useState(0);
  const [opened, setOpened] = useState<AuditEntry | null>(null);
  const { from, to, ...rest } = query;
  const filters = withoutEmpty({ ...rest, since: toDayStart(from, 0), until: toDayStart(to, 1) });
  const list = useOffsetList<AuditEntry>(["admin-audit", filters, start], (page, signal) =>
    mustAdmin(api.GET("/api/v1/admin/audit", { params: { query: { ...page, ...filters } }, signal })),
  );
  const columns = useMemo(() => listAuditColumns(setOpened), []);
  const isOfOne = query.target_id !== "" || query.actor_id !== "";
  return (
    <AdminFrame title="Audit log" actions={<DownloadMenu filters={filters} />}>
      <FilterBar>
        <SearchField label="Search by email" value={query.user} onSearch={(user) => change({ user })} />
        <Filter
          label="Action"
          value={query.action}
          options={listActions(query.action)}
          onChange={(action) => change({ action })}
        />
        <DateField label="From" value={from} onChange={(day) => change({ from: day })} />
        <DateField label="To" value={to} onChange={(day) => change({ to: day })} />
        {isOfOne && (
          <Button icon="close" onClick={() => change({ target_id: "", actor_id: "" })}>
            {query.target_id === "" ? "By one user" : "About one item"}
          </Button>
        )}
        <span class="spacer" />
        <NewEntries list={list} filters={filters} onShow={() => setStart(start + 1)} />
      </FilterBar>
      <DataTable
        caption="Audit log"
        columns={columns}
        list={list}
        empty={
          <Empty title="No matching entries" icon="search">
            <Button onClick={() => change(Object.fromEntries(Object.keys(CHECKS).map((name) => [name, ""])))}>
              Show all entries
            </Button>
          </Empty>
        }
      />
      {opened !== null && <AuditDialog entry={opened} onFilter={change} onClose={() => setOpened(null)} />}
    </AdminFrame>
  );
}

type DownloadMenuProps = { filters: Record<string, string | undefined> };

/** Downloads the entries that match. The download is recorded in the log. */
function DownloadMenu({ filters }: DownloadMenuProps) {
  const { isBusy, run } = useBusy();
  const save = async (format: "csv" | "jsonl") => {
    if (isBusy) return;
    const search = new URLSearchParams({ ...(filters as Record<string, string>), format });
    await run(() => saveFile(`/api/v1/admin/audit/export?${search}`));
  };
  return (
    <Menu
      label="Download the entries that match"
      look=""
      items={[
        { label: "CSV, for spreadsheets", run: () => void save("csv") },
        { label: "JSON lines", run: () => void save("jsonl") },
      ]}
    >
      <Icon name="download" />
      {isBusy ? "Downloading…" : "Download"}
    </Menu>
  );
}

type NewEntriesProps = {
  list: List<AuditEntry, { total: number }>;
  filters: Record<string, string | undefined>;
  /** Restarts the list. */
  onShow(): void;
};

/**
 * Up to this number of rows, new entries are added automatically. Beyond it, a button offers them, so that the rows do
 * not move.
 */
const MAX_LIVE_ROWS = 100;

/** Shows how many entries match. Adds new entries at the top of the list, or offers to. */
function NewEntries({ list, filters, onShow }: NewEntriesProps) {
  const total = list.first.value?.total ?? null;
  const count = useRead(
    ["admin-audit-count", filters],
    (signal) => mustAdmin(api.GET("/api/v1/admin/audit", { params: { query: { ...filters, limit: 1 } }, signal })),
    { refreshMs: 5_000 },
  ).state.value;
  const rows = list.items.value?.length ?? 0;
  const added = count.kind === "ready" && total !== null ? count.value.total - total : 0;
  const isLive = rows <= MAX_LIVE_ROWS;
  useEffect(() => {
    if (added !== 0 && isLive && list.error.peek() === null) void list.reload();
  }, [added, isLive]);
  return (
    <span class="new-entries" role="status">
      {added > 0 && !isLive && (
        <Button
          onClick={() => {
            scrollTo(0, 0);
            onShow();
          }}
        >
          Show {formatCount(added, "new entry", "new entries")}
        </Button>
      )}
      <span class="soft">{total !== null && formatCount(total, "entry", "entries")}</span>
    </span>
  );
}

const listAuditColumns = (onOpen: (entry: AuditEntry) => void): Column<AuditEntry>[] => [
  { title: "Time", width: "8rem", cell: ({ created_at }) => <RelativeTime iso={created_at} /> },
  {
    title: "Action",
    width: "minmax(0, 2fr)",
    cell: (entry) => (
      <button type="button" class="link-button" aria-haspopup="dialog" onClick={() => onOpen(entry)}>
        {ACTION_TEXTS[entry.action] ?? entry.action}
      </button>
    ),
  },
  { title: "By", width: "minmax(0, 2fr)", cell: (entry) => <ActorCell entry={entry} /> },
  { title: "About", width: "minmax(0, 3fr)", cell: (entry) => <TargetCell entry={entry} /> },
];

function ActorCell({ entry }: { entry: AuditEntry }) {
  const name = nameActor(entry);
  return (
    <div class="two-lines">
      <span class={entry.actor.email === null ? "soft truncate" : "truncate"} title={name} dir="auto">
        {name}
      </span>
      {entry.address !== null && <span class="soft truncate">{entry.address}</span>}
    </div>
  );
}

function TargetCell({ entry }: { entry: AuditEntry }) {
  const name = nameTarget(entry);
  const details = formatDetails(entry);
  // Users who changed their own account are already named in the previous column.
  const isSelf = entry.target !== null && entry.target.id === entry.actor.id;
  return (
    <div class="two-lines">
      {!isSelf && name !== "" && <Truncated text={name} />}
      {details !== "" && <Truncated class="soft" text={details} />}
    </div>
  );
}

type AuditDialogProps = {
  entry: AuditEntry;
  onFilter(filters: { actor_id?: string; target_id?: string }): void;
  onClose(): void;
};

/** Shows everything that an entry recorded. */
function AuditDialog({ entry, onFilter, onClose }: AuditDialogProps) {
  const { actor, target } = entry;
  const show = (filters: { actor_id?: string; target_id?: string }) => {
    onClose();
    onFilter(filters);
  };
  return (
    <Dialog title={ACTION_TEXTS[entry.action] ?? entry.action} isWide onClose={onClose}>
      <div class="dialog-body">
        <Facts facts={listFacts(entry)} />
      </div>
      <div class="dialog-foot">
        {actor.id !== null && (
          <Button onClick={() => show({ actor_id: actor.id!, target_id: "" })}>Everything by this user</Button>
        )}
        {target !== null && (
          <Button onClick={() => show({ actor_id: "", target_id: target.id })}>
            Everything about this {nameKind(target.kind)}
          </Button>
        )}
        <Button look="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

function listFacts(entry: AuditEntry): [string, string][] {
  const { actor, target } = entry;
  const facts: [string, string | null][] = [
    ["Time", formatExactTime(entry.created_at)],
    ["By", nameActor(entry)],
    ["User ID", actor.id],
    ["IP address", entry.address],
    ["Session or key", actor.credential_id],
    ["About", target === null ? null : nameTarget(entry)],
    ["Item ID", target?.id ?? null],
    ["Workspace", entry.workspace_id],
    ["Details", formatDetails(entry) || null],
    ["User ID in the details", entry.named_user?.id ?? null],
    ["Request ID", entry.request_id],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== null);
}
