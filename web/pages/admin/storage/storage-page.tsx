import { api, type Schemas } from "../../../app/api";
import { useOffsetList, useRead } from "../../../app/cache";
import { formatBytes, formatCount, formatShare } from "../../../app/format";
import { isSearch, useQuery, withoutEmpty } from "../../../app/use-query";
import { Button } from "../../../ui/button";
import { type Column, DataTable, Truncated } from "../../../ui/data-table";
import { FilterBar, SearchField } from "../../../ui/filter-bar";
import { Empty, ListSkeleton, Message, ResourceView } from "../../../ui/states";
import { AdminFrame, mustAdmin } from "../admin-frame";
import { FileFindings } from "./file-findings";

type WorkspaceStorage = Schemas["WorkspaceStorage"];

const bytes = (title: string, read: (row: WorkspaceStorage) => number): Column<WorkspaceStorage> => ({
  title,
  width: "5.5rem",
  isNumber: true,
  cell: (row) => formatBytes(read(row)),
});

const CHECKS = { q: isSearch };

const COLUMNS: Column<WorkspaceStorage>[] = [
  { title: "Workspace", width: "minmax(0, 3fr)", cell: (row) => <WorkspaceCell row={row} /> },
  { title: "Quota", width: "8rem", cell: (row) => <QuotaCell row={row} /> },
  bytes("Recordings", ({ source_bytes }) => source_bytes),
  bytes("Working files", ({ derived_bytes }) => derived_bytes),
  bytes("Renders", ({ render_bytes }) => render_bytes),
  bytes("Text", ({ text_bytes }) => text_bytes),
  bytes("Total", ({ used_bytes }) => used_bytes),
];

/** The storage that workspaces use, and the free space. */
export default function StoragePage() {
  const [query, change] = useQuery(CHECKS);
  const list = useOffsetList<WorkspaceStorage>(["admin-storage", query], (page, signal) => {
    const filters = withoutEmpty(query);
    return mustAdmin(api.GET("/api/v1/admin/storage", { params: { query: { ...page, ...filters } }, signal }));
  });
  return (
    <AdminFrame title="Storage">
      <StorageTotals />
      <FileFindings />
      <FilterBar>
        <SearchField label="Search by workspace or owner" value={query.q} onSearch={(q) => change({ q })} />
      </FilterBar>
      <DataTable
        caption="Storage by workspace"
        columns={COLUMNS}
        list={list}
        empty={
          <Empty title="No matching workspaces" icon="search">
            <Button onClick={() => change({ q: "" })}>Show all workspaces</Button>
          </Empty>
        }
      />
    </AdminFrame>
  );
}

/** A personal workspace has the name of its owner. */
function WorkspaceCell({ row: { workspace, owners } }: { row: WorkspaceStorage }) {
  const [owner] = owners;
  const others = owners.length - 1;
  return (
    <div class="two-lines">
      {!workspace.is_personal && <Truncated text={workspace.name} />}
      {owner === undefined ? (
        <span class="soft">No owner</span>
      ) : (
        <span class="truncate">
          <a href={`/admin/users/${owner.id}`} title={owners.map(({ email }) => email).join(", ")} dir="auto">
            {owner.email}
          </a>
          {others > 0 && <span class="soft"> and {others} more</span>}
        </span>
      )}
    </div>
  );
}

/** The share of the quota that is used. */
function QuotaCell({ row: { used_bytes: used, storage_quota_bytes: quota, workspace } }: { row: WorkspaceStorage }) {
  if (quota === null) return <span class="soft">No limit</span>;
  return (
    <div class="two-lines">
      <span class={used >= quota ? "failure" : undefined}>
        {formatShare(used / quota)} of {formatBytes(quota)}
      </span>
      <progress
        class="progress"
        aria-label={`Quota used of ${workspace.name}`}
        max={quota}
        value={Math.min(used, quota)}
      />
    </div>
  );
}

type Totals = Schemas["StorageTotals"];

/** The storage of all workspaces by kind, and the free disk space. */
function StorageTotals() {
  const totals = useRead(
    ["admin-storage-totals"],
    (signal) => mustAdmin(api.GET("/api/v1/admin/storage/totals", { signal })),
    { refreshMs: 30_000 },
  );
  return (
    <ResourceView resource={totals} skeleton={<ListSkeleton rows={2} />}>
      {(value) => (
        <>
          {value.disk.is_low && (
            <Message look="bad">
              The disk is almost full: uploads, renders and exports are rejected. Recordings are safe. Free some space,
              or lower disk_reserve_bytes.
            </Message>
          )}
          <DiskBar totals={value} />
        </>
      )}
    </ResourceView>
  );
}

type Part = { name: string; look: string; bytes: number; about: string };

/** Divides the disk into the space that Offcut uses by kind, space that other programs use, and free space. */
function listParts({ disk, database_bytes: database, trash_bytes: trash, ...totals }: Totals): Part[] {
  // Text is part of the database.
  const own = totals.used_bytes - totals.text_bytes + (database ?? 0) + trash;
  // Unfinished uploads count with their full size, so the sum can exceed the space in use.
  const others = Math.max(0, disk.total_bytes - disk.free_bytes - own);
  const reserve = Math.min(disk.reserve_bytes, disk.free_bytes);
  return [
    {
      name: "Recordings",
      look: "source",
      bytes: totals.source_bytes,
      about: formatCount(totals.recordings, "recording"),
    },
    { name: "Working files", look: "derived", bytes: totals.derived_bytes, about: "Previews, audio for recognition" },
    { name: "Renders", look: "render", bytes: totals.render_bytes, about: formatCount(totals.renders, "render") },
    { name: "Database", look: "database", bytes: database ?? 0, about: "Plans, transcripts, accounts" },
    { name: "Deleted files", look: "trash", bytes: trash, about: "Kept for 48 hours" },
    { name: "Other files", look: "others", bytes: others, about: "Not used by workspaces" },
    { name: "Free", look: "free", bytes: disk.free_bytes - reserve, about: "For recordings and renders" },
    { name: "Reserve", look: "reserve", bytes: reserve, about: "Kept free for the database" },
  ];
}

function DiskBar({ totals }: { totals: Totals }) {
  const parts = listParts(totals);
  return (
    <section class="card disk" aria-label="Disk">
      <p>
        <strong>{formatBytes(totals.disk.free_bytes)}</strong> free of {formatBytes(totals.disk.total_bytes)},{" "}
        <strong>{formatBytes(totals.used_bytes)}</strong> used by workspaces
      </p>
      <div class="disk-bar" aria-hidden="true">
        {parts.map(({ name, look, bytes }) => (
          <span key={name} class={`disk-${look}`} style={{ "flex-grow": bytes }} />
        ))}
      </div>
      <dl class="disk-legend">
        {parts.map(({ name, look, bytes, about }) => (
          <div key={name}>
            <dt>
              <span class={`disk-key disk-${look}`} />
              {name}
            </dt>
            <dd>
              {formatBytes(bytes)}
              <span class="soft">{about}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
