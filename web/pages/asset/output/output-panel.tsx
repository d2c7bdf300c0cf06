/** The renders of the recording, and the dialogs that render and export its cut. */

import { useLocation } from "preact-iso";
import { createInGroup, performAction, useActions } from "../../../app/actions";
import { renderAgain } from "../../../app/ended-render";
import { canWrite } from "../../../app/session";
import { showFailure, showToast } from "../../../app/toasts";
import { getKeptDuration, toSeconds } from "../../../editor/model/plan";
import { type EditorContextValue, openTab, useEditor } from "../../../editor/state/context";
import { nameVersion } from "../../../editor/versions/name-version";
import type { Cuts } from "../use-cuts";
import { ExportDialog } from "./export-dialog";
import { RenderDialog } from "./render-dialog";
import { RenderList } from "./render-list";
import { ShareDialog } from "./share-dialog";
import { canTryAgain, type EditedCut, type ListedRender, type Output, type Renders } from "./use-output";

/** Returns the name of the cut of a render. */
function describeSource({ items }: Cuts, cutId: string | null): string {
  const all = items.kind === "ready" ? items.value : [];
  const cut = all.find(({ id }) => id === cutId);
  return cutId === null ? "Whole recording" : cut === undefined ? "Cut" : nameVersion(cut, all);
}

/** The list of renders. */
export function RendersTab() {
  const { output, cuts, asset } = useEditor();
  return (
    <RenderList
      renders={output.renders}
      canRender={asset.cuttable && cuts.awaited === null}
      describeSource={(cutId) => describeSource(cuts, cutId)}
      onRender={() => performAction("output.render")}
    />
  );
}

type Making = Pick<EditorContextValue, "asset" | "cuts" | "editor">;

/** Returns why the cut cannot be exported or rendered now; undefined if it can. */
export function findOutputProblems({ asset, cuts, editor }: Making): { exporting?: string; rendering?: string } {
  if (cuts.awaited !== null) return { exporting: MAKING, rendering: MAKING };
  return {
    ...(editor.cut === null && { exporting: canWrite.value ? "Create a cut first" : "No cut yet" }),
    ...(!asset.cuttable && { rendering: "The recording is still being prepared" }),
  };
}

const MAKING = "The cut is not ready yet";

/** Opens the dialog that shares the newest render of the open cut. Without a render, shows advice. */
function openShare({ opened, renders }: Output, cutId: string | undefined): void {
  const isThere = findShared(renders, cutId) !== undefined;
  if (isThere) opened.value = "share";
  else
    showToast({
      kind: "info",
      text: "Nothing to share yet. Render the cut first.",
      action: { label: "Render", run: () => (opened.value = "render") },
    });
}

const findShared = ({ items }: Renders, cutId: string | undefined): ListedRender | undefined =>
  items.value?.find(({ cut_id, state }) => cut_id === cutId && state === "completed");

const toOutput = createInGroup("Output");
const toRenders = createInGroup("Renders");

/** The open dialog, and the actions that open it. */
export function OutputDialogs() {
  const { output, asset, editor, save, cuts } = useEditor();
  const { opened, renders } = output;
  const { route } = useLocation();
  const close = () => {
    opened.value = null;
  };
  const failedId = renders.items.value?.find((one, _, all) => canTryAgain(one, all))?.id;
  const { exporting, rendering } = findOutputProblems({ asset, cuts, editor });
  useActions(() => {
    const open = (name: "export" | "render") => () => {
      opened.value = name;
    };
    const canExport = { isEnabled: () => exporting === undefined };
    const toExport = toOutput("output.export", "Export", [], open("export"), { ...canExport, icon: "download" });
    if (!canWrite.value) return [toExport];
    const share = () => openShare(output, editor.cut?.id);
    return [
      toExport,
      ...(editor.cut === null ? [] : [toOutput("output.share", "Share", [], share, { ...canExport, icon: "link" })]),
      toOutput("output.render", "Render", [], open("render"), { isEnabled: () => rendering === undefined }),
    ];
  }, [editor, output, exporting, rendering]);
  useActions(() => {
    const again = () => void renderAgain(failedId!).catch(showFailure);
    const isEnabled = () => failedId !== undefined;
    return [toRenders("render.again", "Try the failed render again", [], again, { isEnabled })];
  }, [failedId]);
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
  if (opened.value === "share") {
    const shared = findShared(renders, editor.cut?.id);
    if (shared === undefined) return null;
    const name = `${describeSource(cuts, shared.cut_id)} (${shared.output.format.toUpperCase()})`;
    return <ShareDialog renderId={shared.id} name={name} onClose={close} />;
  }
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
