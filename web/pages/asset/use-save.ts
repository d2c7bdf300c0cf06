/** Saving of what is edited as a cut of its own. */
import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { showFailure, showToast } from "../../app/toasts";
import { toDraft } from "../../editor/model/draft";
import type { Cuts } from "./use-cuts";
import type { EditorWithDraft } from "./use-editor";

export type Save = {
  isSaving: boolean;
  /** Creates a cut, opens it and returns its ID; null if that failed, which a message says. Without changes it is the open cut. */
  save(): Promise<string | null>;
};

export function useSave({ editor, keeper }: EditorWithDraft, cuts: Cuts): Save {
  const [isSaving, setIsSaving] = useState(false);
  const save = async () => {
    const cutId = editor.cut?.id;
    if (cutId === undefined || keeper === null || isSaving) return null;
    if (!editor.isChanged.value) return cutId;
    setIsSaving(true);
    try {
      // A draft that is stored later would outlive the edit.
      await keeper.settle();
      const params = { path: { cut_id: cutId } };
      const body = toDraft(editor.history.value.present);
      const saved = await must(api.POST("/api/v1/cuts/{cut_id}/edits", { params, body }));
      keeper.finish();
      cuts.choose(saved.id);
      showToast({ kind: "info", text: "Saved as a new cut" });
      return saved.id;
    } catch (error) {
      showFailure(error);
      return null;
    } finally {
      setIsSaving(false);
    }
  };
  return { isSaving, save };
}
