import { must } from "../../app/api";
import { formatTime } from "../../app/format";
import { type ApiKey, keysApi } from "../../app/keys-api";
import { findWorkspaceName } from "../../app/session";
import { showToast } from "../../app/toasts";
import { ConfirmDialog } from "../../ui/confirm-dialog";

type RevokeDialogProps = { apiKey: ApiKey; onRevoked(): void; onOutdated(): void; onClose(): void };

/** Asks for confirmation before a key is revoked. */
export function RevokeDialog({ apiKey, onRevoked, onOutdated, onClose }: RevokeDialogProps) {
  const { id, name, prefix, last_used_at: usedAt, workspace_id: workspaceId } = apiKey;
  const where = findWorkspaceName(workspaceId);
  return (
    <ConfirmDialog
      title="Revoke this key?"
      confirmLabel="Revoke key"
      onConfirm={async () => {
        await must(keysApi.DELETE("/api-keys/{key_id}", { params: { path: { key_id: id } } }));
        showToast({ kind: "info", text: `The key “${name}” was revoked.` });
        onRevoked();
      }}
      onClose={onClose}
    >
      <div class="form">
        <p>
          Every program that uses <strong dir="auto">{name}</strong> (<code>{prefix}…</code>) stops working immediately:
          its requests{where !== null && <span dir="auto">in the workspace “{where}” </span>}fail with status 401, and
          its unfinished uploads cannot continue.{" "}
          {usedAt === null ? "The key was never used." : `It was last used ${formatTime(usedAt)}.`}
        </p>
        <p>
          Recordings, cuts and renders are kept, and jobs started with the key continue. A device that has the key must
          be approved again. This cannot be undone.
        </p>
      </div>
    </ConfirmDialog>
  );
}
