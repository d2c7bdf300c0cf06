import { useState } from "preact/hooks";
import { api } from "../../../app/api";
import { showFailure, showToast } from "../../../app/toasts";
import { Button } from "../../../ui/button";
import { ConfirmDialog } from "../../../ui/confirm-dialog";
import { Section } from "../../../ui/section";
import { mustAdmin } from "../admin-api";
import { type AdminWorkerDetail, describeRunning } from "./worker-texts";

type WorkerActionsProps = { worker: AdminWorkerDetail; onChanged(): Promise<void> };

/** Drains, resumes and revokes a worker. */
export function WorkerActions({ worker, onChanged }: WorkerActionsProps) {
  const [isBusy, setIsBusy] = useState(false);
  const [isRevoking, setIsRevoking] = useState(false);
  const params = { path: { worker_id: worker.id } };
  const change = async (call: () => Promise<unknown>) => {
    setIsBusy(true);
    try {
      await call();
    } catch (error) {
      showFailure(error);
    }
    await onChanged();
    setIsBusy(false);
  };
  const revoke = async () => {
    await mustAdmin(api.POST("/api/v1/admin/workers/{worker_id}/revoke", { params }));
    showToast({ kind: "info", text: `${worker.name} was revoked.` });
    await onChanged();
  };
  return (
    <Section title="Actions">
      <div class="setting">
        <p>
          <strong>{worker.is_draining ? "Drained" : "Accepts work"}</strong>
          <span class="soft">
            {worker.is_draining
              ? "Finishes its current work and accepts nothing new, even after a restart."
              : "Drain it before maintenance: it finishes its current work and accepts nothing new."}
          </span>
        </p>
        {worker.is_draining ? (
          <Button
            isBusy={isBusy}
            onClick={() => change(() => mustAdmin(api.POST("/api/v1/admin/workers/{worker_id}/resume", { params })))}
          >
            Resume
          </Button>
        ) : (
          <Button
            isBusy={isBusy}
            onClick={() => change(() => mustAdmin(api.POST("/api/v1/admin/workers/{worker_id}/drain", { params })))}
          >
            Drain
          </Button>
        )}
      </div>
      <div class="setting">
        <p>
          <strong>Join token</strong>
          <span class="soft">Revoke it when the machine is given away or the token has leaked.</span>
        </p>
        <Button look="danger" onClick={() => setIsRevoking(true)}>
          Revoke
        </Button>
      </div>
      {isRevoking && (
        <ConfirmDialog
          title="Revoke this worker?"
          confirmLabel="Revoke worker"
          onConfirm={revoke}
          onClose={() => setIsRevoking(false)}
        >
          <p>
            <strong>{worker.name}</strong> is rejected immediately and stops. {describeRunning(worker)} Finished chunks
            of renders are kept. This cannot be undone: to join again, the machine needs a new token.
          </p>
        </ConfirmDialog>
      )}
    </Section>
  );
}
