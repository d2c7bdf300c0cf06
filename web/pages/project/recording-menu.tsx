/** The actions for a recording in the library. */
import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { runDeletion } from "../../app/query-client";
import { isBilled } from "../../app/session";
import { ConfirmDialog } from "../../ui/dialog";
import { Icon } from "../../ui/icon";
import { Menu } from "../../ui/menu";
import { nameOf } from "../asset/asset";
import type { Recording } from "./recording";

export function RecordingMenu({ recording, onChange }: { recording: Recording; onChange(): void }) {
  const [isDeleting, setIsDeleting] = useState(false);
  const name = nameOf(recording);
  return (
    <>
      <Menu
        label={`Actions for ${name}`}
        items={[{ label: "Delete", icon: "trash", isDangerous: true, run: () => setIsDeleting(true) }]}
      >
        <Icon name="more" />
      </Menu>
      {isDeleting && (
        <ConfirmDialog
          title="Delete this recording?"
          confirmLabel="Delete recording"
          onConfirm={async () => {
            const params = { path: { asset_id: recording.id } };
            await runDeletion(recording.id, must(api.DELETE("/api/v1/assets/{asset_id}", { params })));
            onChange();
          }}
          onClose={() => setIsDeleting(false)}
        >
          <p>
            <strong dir="auto">{name}</strong> is deleted with its cuts and renders, from the server's disk too.
            {isBilled.value && " Credits that were spent are not refunded."} This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
