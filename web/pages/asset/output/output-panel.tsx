/** The renders of the recording, and the dialogs that render and export its cut. */

import { useLocation } from "preact-iso";
import { showToast } from "../../../app/toasts";
import { getKeptDuration, toSeconds } from "../../../editor/model/plan";
import { openTab, useEditor } from "../../../editor/state/context";
import { nameVersion } from "../../../editor/versions/name-version";
import type { EditedCut } from "./edited-cut";
import { ExportDialog } from "./export-dialog";
import { RenderDialog } from "./render-dialog";
import { RenderList } from "./render-list";

/** The list of renders. */
export function RendersTab() {
  const { output, cuts } = useEditor();
  const all = cuts.items.kind === "ready" ? cuts.items.value : [];
  const describe = (cutId: string | null): string => {
    const cut = all.find(({ id }) => id === cutId);
    return cutId === null ? "Whole recording" : cut === undefined ? "Cut" : nameVersion(cut, all);
  };
  return <RenderList renders={output.renders} describeSource={describe} />;
}

/** The open dialog. */
export function OutputDialogs() {
  const { output, asset, editor, save } = useEditor();
  const { opened, renders } = output;
  const { route } = useLocation();
  const close = () => {
    opened.value = null;
  };
  const cut: EditedCut = {
    cutId: editor.cut?.id ?? null,
    isEdited: editor.canEdit && editor.isChanged.value,
    save: save.save,
  };
  const onStarted = () => {
    void renders.reload();
    openTab.value = "renders";
    const show = () => {
      openTab.value = "renders";
      if (!showRenders()) route(`/assets/${asset.id}`);
    };
    showToast({
      kind: "info",
      text: "Render started. The file is listed under Renders.",
      action: { label: "Show", run: show },
    });
  };
  if (opened.value === "export") {
    const plan = editor.cut?.plan ?? null;
    const hasWords = plan?.language != null || (plan?.segments.some(({ text }) => text !== "") ?? false);
    return <ExportDialog asset={asset} cut={cut} hasWords={hasWords} onClose={close} />;
  }
  if (opened.value === null) return null;
  const seconds = toSeconds(getKeptDuration(editor.latePlan.value));
  return <RenderDialog asset={asset} cut={cut} cutSeconds={seconds} onStarted={onStarted} onClose={close} />;
}

/** Moves the focus to the list of renders. Returns whether its page is still open. */
function showRenders(): boolean {
  const isOpen = document.querySelector(".workspace") !== null;
  // The tab is shown a moment later.
  if (isOpen) setTimeout(() => document.querySelector<HTMLElement>("#renders")?.focus());
  return isOpen;
}
