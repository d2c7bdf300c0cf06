import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { runDeletion } from "../../app/deletions";
import { discardEdits } from "../../editor/state/edit-actions";
import type { Cut } from "../../editor/state/editor-state";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { Icon } from "../../ui/icon";
import { Menu } from "../../ui/menu";
import { describeCut } from "./describe-cut";
import type { Cuts } from "./use-cuts";
import type { EditorWithDraft } from "./use-editor";

/** The less frequent actions for the open cut. */
export function CutMenu({ cut, cuts, both }: { cut: Cut; cuts: Cuts; both: EditorWithDraft }) {
  const { editor, keeper } = both;
  const [isDeleting, setIsDeleting] = useState(false);
  const listed = cuts.items;
  const discard = { label: "Discard edits", icon: "undo" as const, run: () => discardEdits(editor) };
  const remove = { label: "Delete cut", icon: "trash" as const, isDangerous: true, run: () => setIsDeleting(true) };
  return (
    <>
      <Menu label="Actions for this cut" items={editor.isChanged.value ? [discard, remove] : [remove]}>
        <Icon name="more" />
      </Menu>
      {isDeleting && (
        <ConfirmDialog
          title="Delete this cut?"
          confirmLabel="Delete cut"
          onConfirm={async () => {
            await keeper?.hold();
            const request = must(api.DELETE("/api/v1/cuts/{cut_id}", { params: { path: { cut_id: cut.id } } }));
            await runDeletion(cut.id, request, () => {
              keeper?.resume();
              cuts.reload();
            });
            cuts.leave(cut.id);
          }}
          onClose={() => setIsDeleting(false)}
        >
          <p>
            <strong>{describeCut(cut, listed.kind === "ready" ? listed.value : [])}</strong> is deleted with its edits,
            subtitles and renders. The recording and its other cuts stay. This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
