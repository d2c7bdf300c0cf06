import { useState } from "preact/hooks";
import { api } from "../../../app/api";
import { useOffsetList, useRead } from "../../../app/cache";
import { formatCount } from "../../../app/format";
import { Button } from "../../../ui/button";
import { DataTable } from "../../../ui/data-table";
import { FilterBar } from "../../../ui/filter-bar";
import { Empty } from "../../../ui/states";
import { mustAdmin } from "../admin-api";
import { AdminFrame } from "../admin-frame";
import { NewTokenDialog } from "./new-token-dialog";
import { SetupHint } from "./setup-hint";
import { WaitingTokens } from "./waiting-tokens";
import { WORKER_COLUMNS } from "./worker-columns";
import type { AdminWorker } from "./worker-texts";

const MAX_TOKENS = 100;

/** Other machines that run jobs for this server. */
export default function WorkersPage() {
  const [isAdding, setIsAdding] = useState(false);
  const list = useOffsetList<AdminWorker>(
    ["admin-workers"],
    (page, signal) => mustAdmin(api.GET("/api/v1/admin/workers", { params: { query: page }, signal })),
    { refreshMs: 4_000 },
  );
  const tokens = useRead(
    ["admin-worker-tokens"],
    (signal) => mustAdmin(api.GET("/api/v1/admin/worker-tokens", { params: { query: { limit: MAX_TOKENS } }, signal })),
    { refreshMs: 4_000 },
  );
  const total = list.first.value?.total ?? null;
  return (
    <AdminFrame
      title="Workers"
      actions={
        <Button icon="plus" look="primary" onClick={() => setIsAdding(true)}>
          Add worker
        </Button>
      }
    >
      <SetupHint />
      <FilterBar>
        <span class="soft">Other machines that prepare, cut and render for this server.</span>
        <span class="spacer" />
        <span class="soft" role="status">
          {total !== null && formatCount(total, "worker")}
        </span>
      </FilterBar>
      <DataTable
        caption="Workers"
        columns={WORKER_COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        empty={
          <Empty title="No worker has joined" icon="jobs">
            <p>Create a join token, and start offcut worker on another machine.</p>
          </Empty>
        }
      />
      <WaitingTokens tokens={tokens} onRevoked={tokens.reload} />
      {isAdding && <NewTokenDialog onCreated={() => void tokens.reload()} onClose={() => setIsAdding(false)} />}
    </AdminFrame>
  );
}
