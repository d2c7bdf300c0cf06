/** Saving of what is edited as a cut of its own. */
import { useState } from "preact/hooks";
import { api, must } from "../../app/api";
import { showFailure, showToast } from "../../app/toasts";
import { toDraft } from "../../editor/model/draft";
import { listKept } from "../../editor/model/plan";
import type { Cuts } from "./use-cuts";
import type { EditorWithDraft } from "./use-editor";

export type Save = {
  isSaving: boolean;
  /** Creates a cut, opens it and returns its ID; null if that failed, which a message says. Without changes it is the open cut. */
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
      // A draft that is stored later would outlive the edit.
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

/** Returns why the edits cannot become a cut, and what to do; null if they can. */
function findObstacle({ editor, keeper }: EditorWithDraft): string | null {
  if (listKept(editor.plan.value).length === 0) return "Nothing is kept. Restore what the cut needs, then save.";
  // A cut ends the stored draft, which is that of the other tab or person.
  if (keeper?.state.value.kind === "conflict") return "Choose which edits to keep at the top of the page, then save.";
  return null;
}
