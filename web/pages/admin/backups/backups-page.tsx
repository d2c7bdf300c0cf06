import { useMemo, useState } from "preact/hooks";
import { api } from "../../../app/api";
import { useOffsetList } from "../../../app/cache";
import { showFailure, showToast } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import { DataTable } from "../../../ui/data-table";
import { Empty } from "../../../ui/states";
import { mustAdmin } from "../admin-api";
import { AdminFrame } from "../admin-frame";
import { listColumns } from "./backup-columns";
import { BackupSummary, BackupsHint } from "./backup-summary";
import type { BackupList, BackupRun } from "./backup-texts";

/** The page for backups and the proof that they can be restored. */
export default function BackupsPage() {
  const list = useOffsetList<BackupRun, BackupList>(
    ["admin-backups"],
    (page, signal) => mustAdmin(api.GET("/api/v1/admin/backups", { params: { query: page }, signal })),
    { refreshMs: ({ first }) => (first.running ? 1_000 : 4_000) },
  );
  const backups = list.first.value;
  const columns = useMemo(() => listColumns(list.reload), [list]);
  const isConfigured = backups !== null && backups.settings.backup_to !== null;
  return (
    <AdminFrame
      title="Backups"
      actions={isConfigured && <StartButtons isRunning={backups.running !== null} onStarted={list.reload} />}
    >
      {backups !== null && !isConfigured && <BackupsHint />}
      {backups !== null && (isConfigured || backups.total > 0) && <BackupSummary backups={backups} />}
      <DataTable
        caption="Backups, verifications and drills"
        columns={columns}
        list={list}
        rowKey={({ id }) => id}
        empty={
          isConfigured && (
            <Empty title="No backup has been made" icon="jobs">
              <p>The first one is made tonight, or now if you like.</p>
            </Empty>
          )
        }
      />
    </AdminFrame>
  );
}

type StartButtonsProps = { isRunning: boolean; onStarted(): Promise<void> };

function StartButtons({ isRunning, onStarted }: StartButtonsProps) {
  const [isBusy, setIsBusy] = useState(false);
  const start = async (call: Promise<BackupRun>, text: string) => {
    setIsBusy(true);
    try {
      await call;
      showToast({ kind: "info", text });
    } catch (error) {
      showFailure(error);
    }
    await onStarted();
    setIsBusy(false);
  };
  return (
    <div class="toolbar">
      <Button
        disabled={isRunning || isBusy}
        onClick={() => void start(mustAdmin(api.POST("/api/v1/admin/backups/drill")), "The drill has started.")}
      >
        Run a drill
      </Button>
      <Button
        look="primary"
        disabled={isRunning || isBusy}
        onClick={() => void start(mustAdmin(api.POST("/api/v1/admin/backups")), "The backup has started.")}
      >
        Back up now
      </Button>
    </div>
  );
}
