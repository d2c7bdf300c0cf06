import { api, type Schemas } from "../../../app/api";
import { useOffsetList } from "../../../app/cache";
import { formatBytes } from "../../../app/format";
import { isSearch, useQuery, withoutEmpty } from "../../../app/use-query";
import { type Column, DataTable } from "../../../ui/data-table";
import { FilterBar, SearchField } from "../../../ui/filter-bar";
import { Empty } from "../../../ui/states";
import { mustAdmin } from "../admin-api";
import { AdminFrame } from "../admin-frame";
import { FileFindings } from "./file-findings";
import { StorageTotals } from "./storage-totals";

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
  bytes("Derived", ({ derived_bytes }) => derived_bytes),
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
        rowKey={({ workspace }) => workspace.id}
        empty={<Empty title="No matching workspaces" icon="search" />}
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
      {!workspace.is_personal && (
        <span class="truncate" title={workspace.name} dir="auto">
          {workspace.name}
        </span>
      )}
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
        {Math.round((used / quota) * 100)}% of {formatBytes(quota)}
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
