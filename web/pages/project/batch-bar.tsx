/** The bar in place of the filters while recordings are selected. */
import { useState } from "preact/hooks";
import { ApiError, api, must } from "../../app/api";
import { formatCount, formatDuration } from "../../app/format";
import { runDeletion } from "../../app/query-client";
import { isBilled } from "../../app/session";
import { Button, IconButton } from "../../ui/button";
import { ConfirmDialog } from "../../ui/dialog";
import type { Recording } from "./recording";
import type { Selection } from "./selection";

type BatchBarProps = { selection: Selection; items: Recording[]; onDone(): void };

/** Deletes a recording. Succeeds if somebody else has already deleted it. */
async function deleteAsset(id: string): Promise<void> {
  try {
    const params = { path: { asset_id: id } };
    await runDeletion(id, must(api.DELETE("/api/v1/assets/{asset_id}", { params })));
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}

export function BatchBar({ selection, items, onDone }: BatchBarProps) {
  const [isDeleting, setIsDeleting] = useState(false);
  const ids = selection.ids.value;
  const selected = items.filter(({ id }) => ids.has(id));
  const duration = selected.reduce((sum, { duration_seconds: seconds }) => sum + Number(seconds ?? 0), 0);
  return (
    <div class="batch-bar" role="toolbar" aria-label="Selected recordings">
      <IconButton icon="close" label="Clear the selection (Esc)" onClick={selection.clear} />
      <b>{ids.size} selected</b>
      <span class="soft number batch-duration">{formatDuration(duration)}</span>
      <span class="spacer" />
      <Button icon="trash" look="quiet" class="danger-text" onClick={() => setIsDeleting(true)}>
        Delete
      </Button>
      {isDeleting && (
        <ConfirmDialog
          title={`Delete ${formatCount(ids.size, "recording")}?`}
          confirmLabel="Delete"
          onConfirm={async () => {
            for (const id of ids) {
              await deleteAsset(id);
              selection.remove([id]);
            }
            onDone();
          }}
          onClose={() => setIsDeleting(false)}
        >
          <p>
            Their files, cuts and renders are deleted from the server's disk.
            {isBilled.value && " Credits that were spent are not refunded."} This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}
