import { useState } from "preact/hooks";
import { api } from "../../../app/api";
import { showFailure, showToast } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import { mustAdmin } from "../admin-api";
import type { BackupRun } from "./backup-texts";

type VerifyButtonProps = { run: BackupRun; onStarted(): Promise<void> };

/** Verifies a backup against its manifest. Shown only for a complete backup that still exists. */
export function VerifyButton({ run, onStarted }: VerifyButtonProps) {
  const [isBusy, setIsBusy] = useState(false);
  if (run.kind !== "backup" || run.state !== "completed" || !run.is_available) return null;
  const verify = async () => {
    setIsBusy(true);
    try {
      const params = { path: { run_id: run.id } };
      await mustAdmin(api.POST("/api/v1/admin/backups/{run_id}/verify", { params }));
      showToast({ kind: "info", text: "Verifying every file of the backup." });
    } catch (error) {
      showFailure(error);
    }
    await onStarted();
    setIsBusy(false);
  };
  return (
    <Button isBusy={isBusy} aria-label={`Verify ${run.name}`} onClick={() => void verify()}>
      Verify
    </Button>
  );
}
