import { useMemo, useState } from "preact/hooks";
import { api } from "../../../app/api";
import { useOffsetList } from "../../../app/cache";
import { toDayStart } from "../../../app/day-start";
import { saveFile } from "../../../app/save-file";
import { showFailure } from "../../../app/toasts";
import { isDay, isOneOf, isSearch, isUuid, useQuery, withoutEmpty } from "../../../app/use-query";
import { Button } from "../../../ui/button";
import { DataTable } from "../../../ui/data-table";
import { DateField, Filter, FilterBar, SearchField } from "../../../ui/filter-bar";
import { Icon } from "../../../ui/icon";
import { Menu } from "../../../ui/menu";
import { Empty } from "../../../ui/states";
import { mustAdmin } from "../admin-api";
import { AdminFrame } from "../admin-frame";
import { listAuditColumns } from "./audit-columns";
import { AuditDialog } from "./audit-dialog";
import { ACTION_TEXTS, type AuditEntry } from "./audit-texts";
import { NewEntries } from "./new-entries";

const ACTIONS = [
  { value: "", label: "All actions" },
  ...Object.entries(ACTION_TEXTS)
    .map(([value, label]) => ({ value, label }))
    .toSorted((a, b) => a.label.localeCompare(b.label, "en")),
];
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
        <Filter label="Action" value={query.action} options={ACTIONS} onChange={(action) => change({ action })} />
        <DateField label="From" value={from} onChange={(day) => change({ from: day })} />
        <DateField label="To" value={to} onChange={(day) => change({ to: day })} />
        {isOfOne && (
          <Button icon="close" onClick={() => change({ target_id: "", actor_id: "" })}>
            {query.target_id === "" ? "Only one actor" : "Only one target"}
          </Button>
        )}
        <span class="spacer" />
        <NewEntries list={list} filters={filters} onShow={() => setStart(start + 1)} />
      </FilterBar>
      <DataTable
        caption="Audit log"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
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
  const [isBusy, setIsBusy] = useState(false);
  const save = async (format: "csv" | "jsonl") => {
    if (isBusy) return;
    setIsBusy(true);
    try {
      const search = new URLSearchParams({ ...(filters as Record<string, string>), format });
      await saveFile(`/api/v1/admin/audit/export?${search}`);
    } catch (error) {
      showFailure(error);
    } finally {
      setIsBusy(false);
    }
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
