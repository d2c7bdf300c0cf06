import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { api } from "../../../app/api";
import { showFailure, showToast } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import { DataTable } from "../../../ui/data-table";
import { Empty } from "../../../ui/states";
import { mustAdmin } from "../admin-api";
import { AdminFrame } from "../admin-frame";
import { useFreshList } from "../use-fresh-list";
import { useOffsetList } from "../use-offset-list";
import { listColumns } from "./backup-columns";
import { BackupSummary, BackupsHint } from "./backup-summary";
import type { BackupList, BackupRun } from "./backup-texts";

const REFRESH_MS = 4_000;
const RUNNING_REFRESH_MS = 1_000;

/** The page for backups and the proof that they can be restored. */
export default function BackupsPage() {
  const latest = useMemo(() => signal<BackupList | null>(null), []);
  const list = useOffsetList<BackupRun>(
    async (page, stopping) => {
      const read = await mustAdmin(api.GET("/api/v1/admin/backups", { params: { query: page }, signal: stopping }));
      latest.value = read;
      return read;
    },
    ({ id }) => id,
    [],
  );
  const backups = latest.value;
  useFreshList(list, backups?.running ? RUNNING_REFRESH_MS : REFRESH_MS);
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
