/** Saves edits as a new cut. */
import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { showFailure, showToast } from "../../app/toasts";
import { toDraft } from "../../editor/model/draft";
import { listKept } from "../../editor/model/plan";
import type { Cuts } from "./use-cuts";
import type { EditorWithDraft } from "./use-editor";

export type Save = {
  isSaving: boolean;
  /**
   * Creates a cut, opens it and returns its ID. Returns null if that failed, after showing a message. Without changes,
   * returns the open cut.
   */
  save(): Promise<string | null>;
};

export function useSave(both: EditorWithDraft, cuts: Cuts): Save {
  const { editor, keeper } = both;
  const [isSaving, setIsSaving] = useState(false);
  const save = async () => {
    const cutId = editor.cut?.id;
    if (cutId === undefined || keeper === null || isSaving) return null;
    if (!editor.isChanged.value) return cutId;
    const obstacle = findObstacle(both);
    if (obstacle !== null) {
      showToast({ kind: "bad", text: obstacle });
      return null;
    }
    setIsSaving(true);
    try {
      // A draft that is stored after the deletion would outlive the edit.
      await keeper.hold();
      const content = editor.getSettled();
      const params = { path: { cut_id: cutId } };
      const saved = await must(api.POST("/api/v1/cuts/{cut_id}/edits", { params, body: toDraft(content) }));
      keeper.finish(saved.id, content);
      both.saved = { cutId: saved.id, content };
      cuts.choose(saved.id);
      showToast({ kind: "info", text: "Saved as a new cut" });
      return saved.id;
    } catch (error) {
      showFailure(error);
      keeper.resume();
      return null;
    } finally {
      setIsSaving(false);
    }
  };
  return { isSaving, save };
}

/** Returns why the edits cannot become a cut and what to do, or null. */
function findObstacle({ editor, keeper }: EditorWithDraft): string | null {
  if (listKept(editor.plan.value).length === 0) return "Everything is removed. Restore something, then save.";
  // Creating a cut deletes the stored draft, which belongs to the other tab or person.
  if (keeper?.state.value.kind === "conflict") return "Choose which edits to keep at the top of the page, then save.";
  return null;
}
