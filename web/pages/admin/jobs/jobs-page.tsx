import { useMemo } from "preact/hooks";
import { api } from "../../../app/api";
import { useOffsetList } from "../../../app/cache";
import { formatCount } from "../../../app/format";
import { isOneOf, isUuid, useQuery, withoutEmpty } from "../../../app/use-query";
import { Button } from "../../../ui/button";
import { DataTable } from "../../../ui/data-table";
import { Filter, FilterBar } from "../../../ui/filter-bar";
import { Empty } from "../../../ui/states";
import { mustAdmin } from "../admin-api";
import { AdminFrame } from "../admin-frame";
import { listColumns } from "./job-columns";
import type { AdminJob } from "./job-texts";

const STATES = [
  { value: "", label: "All states" },
  { value: "running", label: "Running" },
  { value: "pending", label: "Waiting" },
  { value: "failed", label: "Failed" },
  { value: "completed", label: "Completed" },
  { value: "cancelled", label: "Cancelled" },
];
const NAMES = [
  { value: "", label: "All jobs" },
  { value: "prepare", label: "Preparations" },
  { value: "cut", label: "Cuts" },
  { value: "render", label: "Renders" },
  { value: "preview", label: "Previews" },
];

const CHECKS = { state: isOneOf(STATES), name: isOneOf(NAMES), user_id: isUuid, workspace_id: isUuid };

/** The jobs of all workspaces. */
export default function AdminJobsPage() {
  const [query, change] = useQuery(CHECKS);
  const list = useOffsetList<AdminJob>(
    ["admin-jobs", query],
    (page, signal) => {
      const filters = withoutEmpty(query) as { state?: "running"; name?: "cut"; user_id?: string };
      return mustAdmin(api.GET("/api/v1/admin/jobs", { params: { query: { ...page, ...filters } }, signal }));
    },
    { refreshMs: 4_000 },
  );
  const columns = useMemo(() => listColumns(list.reload), [list]);
  const total = list.first.value?.total ?? null;
  const isNarrowed = query.user_id !== "" || query.workspace_id !== "";
  return (
    <AdminFrame title="Jobs of all users">
      <FilterBar>
        <Filter label="State" value={query.state} options={STATES} onChange={(state) => change({ state })} />
        <Filter label="Kind" value={query.name} options={NAMES} onChange={(name) => change({ name })} />
        {isNarrowed && (
          <Button icon="close" onClick={() => change({ user_id: "", workspace_id: "" })}>
            {query.user_id === "" ? "Only one workspace" : "Only one user"}
          </Button>
        )}
        <span class="spacer" />
        <span class="soft">{total !== null && formatCount(total, "job")}</span>
      </FilterBar>
      <DataTable
        caption="Jobs of all users"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <Empty title={query.state === "running" ? "No jobs are running" : "No matching jobs"} icon="jobs">
            <p>Preparations, cuts, renders and previews of all workspaces appear here.</p>
          </Empty>
        }
      />
    </AdminFrame>
  );
}
