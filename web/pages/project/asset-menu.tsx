import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { Icon } from "../../ui/icon";
import { Menu } from "../../ui/menu";
import type { Asset } from "../asset/asset";

/** The actions for a recording. */
export function AssetMenu({ asset, name, onChange }: { asset: Asset; name: string; onChange(): void }) {
  const [isDeleting, setIsDeleting] = useState(false);
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
            await must(api.DELETE("/api/v1/assets/{asset_id}", { params: { path: { asset_id: asset.id } } }));
            onChange();
          }}
          onClose={() => setIsDeleting(false)}
        >
          <p>
            <strong dir="auto">{name}</strong> is deleted with its cuts and renders, from the server's disk too. Credits
            that were spent are not refunded. This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
