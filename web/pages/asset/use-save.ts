/** Saves edits as a version of the cut. */
import { type Signal, useSignal } from "@preact/signals";
import { useState } from "preact/hooks";
import { ApiError, api, must } from "../../app/api";
import { showFailure, showToast } from "../../app/toasts";
import { type Content, toDraft } from "../../editor/model/history";
import { listKept } from "../../editor/model/plan";
import { proposeName } from "../../editor/versions/name-version";
import { type EditorWithDraft, isLeaving } from "./follow-versions";
import type { Cuts } from "./use-cuts";

export type Save = {
  isSaving: boolean;
  /** Whether the name of a new version is asked for. */
  isNaming: Signal<boolean>;
  /**
   * Saves the edits in the open version, or in the first one of a planned cut, and opens it. Returns its ID; null if
   * that failed, after showing a message. Without changes, returns the open cut.
   */
  save(): Promise<string | null>;
  /** Saves the cut as it is as another version. Throws `ApiError`. */
  saveAs(name: string): Promise<void>;
};

export function useSave(both: EditorWithDraft, cuts: Cuts): Save {
  const { editor, keeper } = both;
  const [isSaving, setIsSaving] = useState(false);
  const isNaming = useSignal(false);
  const { cut } = editor;
  /** The name of the first version that is saved from a planned cut. */
  const proposed = (options: Content["pacing"] = undefined) =>
    cut === null || cuts.items.kind !== "ready" ? null : proposeName(options ?? cut.options, cuts.items.value);

  /**
   * Sends the edits again after merging other people's edits into them. Returns null if the user has to choose first.
   */
  const send = async (cutId: string, name: string | null): Promise<string | null> => {
    try {
      return await sendOnce(cutId, name);
    } catch (error) {
      if (keeper === null || !(error instanceof ApiError && error.code === "conflict")) throw error;
      await keeper.sync({ hasVersion: true });
      const obstacle = findObstacle(both);
      if (obstacle === null && !isLeaving(both)) return sendOnce(cutId, name);
      if (obstacle !== null) showToast({ kind: "bad", text: obstacle });
      return null;
    }
  };
  /** Sends the edits and opens the version. Errors: `ApiError`. */
  const sendOnce = async (cutId: string, name: string | null): Promise<string> => {
    const isNew = name !== null || cut?.edited_from == null;
    setIsSaving(true);
    try {
      // A draft that is stored after the deletion would outlive the edit.
      await keeper?.hold();
      const content = editor.getSettled();
      const given = isNew ? (name ?? proposed(content.pacing)) : null;
      const body = {
        ...toDraft(content),
        ...(content.pacing && { pacing: content.pacing }),
        draft_revision: keeper?.getRevision() ?? 0,
        ...(isNew ? {} : { replaces: cutId }),
        ...(given === null ? {} : { name: given }),
      };
      const params = { path: { cut_id: cutId } };
      const saved = await must(api.POST("/api/v1/cuts/{cut_id}/edits", { params, body }));
      keeper?.finish(saved.id, content);
      both.saved = { cutId: saved.id, content, places: null };
      cuts.choose(saved.id, !isNew);
      return saved.id;
    } catch (error) {
      keeper?.resume();
      throw error;
    } finally {
      setIsSaving(false);
    }
  };

  return {
    isSaving,
    isNaming,
    save: async () => {
      if (cut === null || keeper === null || isSaving) return null;
      if (!editor.isChanged.value) return cut.id;
      const obstacle = findObstacle(both);
      if (obstacle !== null) {
        showToast({ kind: "bad", text: obstacle });
        return null;
      }
      return send(cut.id, null).catch((error) => {
        showFailure(error);
        return null;
      });
    },
    saveAs: async (name) => {
      const obstacle = findObstacle(both);
      if (obstacle !== null) throw new ApiError(obstacle, "unsaved", 0);
      if (cut !== null) await send(cut.id, name);
    },
  };
}

/** Returns the reason why the edits cannot be saved, with the remedy; null if they can. */
function findObstacle({ editor, keeper }: EditorWithDraft): string | null {
  if (listKept(editor.plan.value).length === 0) return "Everything is removed. Restore something, then save.";
  // Saving deletes the stored draft, which belongs to the other tab or person.
  if (keeper?.state.value.kind === "conflict") return "At the top of the page, choose which edits to keep. Then save.";
  return null;
}
