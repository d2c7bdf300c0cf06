/** The bar of the workspace: the recording, its cut with the state of the edits, and what is made from it. */
import { useEffect, useRef, useState } from "preact/hooks";
import { performAction } from "../../app/actions";
import { api, must } from "../../app/api";
import { runDeletion } from "../../app/deletions";
import { useResource } from "../../app/resource";
import { canWrite } from "../../app/session";
import { useLiveReload } from "../../app/use-live-reload";
import { findRedoLabel, findUndoLabel } from "../../editor/model/history";
import { openTab, useEditor } from "../../editor/state/context";
import { discardEdits } from "../../editor/state/edit-actions";
import type { Cut } from "../../editor/state/editor-state";
import { ActionButton, Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/confirm-dialog";
import { Icon } from "../../ui/icon";
import { Menu, type MenuItem } from "../../ui/menu";
import { AssetStatus } from "../../ui/status";
import { nameOf } from "./asset";
import { describeCut } from "./describe-cut";
import type { DraftKeeper } from "./draft-keeper";
import { OutputDialogs } from "./output/output-panel";
import type { EditorWithDraft } from "./use-editor";

export function Bar({ both }: { both: EditorWithDraft }) {
  const { asset, editor, keeper, save, output } = useEditor();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement === null) heading.current?.focus();
  }, []);
  const name = nameOf(asset);
  const history = editor.history.value;
  const canExport = editor.cut !== null;
  const exportTitle = canExport ? undefined : canWrite.value ? "Create a cut first" : "There is no cut yet";
  const render = () => {
    output.opened.value = "render";
  };
  const openExport = () => {
    output.opened.value = "export";
  };
  return (
    <header class="work-bar">
      <BackLink id={asset.project_id} />
      <h1 ref={heading} class="truncate" tabIndex={-1} title={name} dir="auto">
        {name}
      </h1>
      {asset.state !== "ready" && <AssetStatus state={asset.state} cuttable={asset.cuttable} />}
      <CutMenu both={both} />
      <span class="spacer" />
      {keeper !== null && (
        <>
          <ActionButton name="edit.undo" detail={findUndoLabel(history)} />
          <ActionButton name="edit.redo" detail={findRedoLabel(history)} class="wide-only" />
          <Button
            class="wide-only"
            isBusy={save.isSaving}
            disabled={!editor.isChanged.value}
            onClick={() => void save.save()}
          >
            Save
          </Button>
        </>
      )}
      <Button class="wide-only" icon="download" disabled={!canExport} title={exportTitle} onClick={openExport}>
        Export
      </Button>
      {canWrite.value && (
        <Button look="primary" onClick={render}>
          Render
        </Button>
      )}
      <span class="narrow-only">
        <Menu
          label="More"
          items={[
            ...(canExport ? [{ label: "Export", icon: "download" as const, run: openExport }] : []),
            ...(keeper === null
              ? []
              : [
                  { label: "Save", icon: "check" as const, run: () => performAction("cut.save") },
                  { label: "Redo", icon: "redo" as const, run: () => performAction("edit.redo") },
                ]),
            { label: "Renders", icon: "projects", run: () => (openTab.value = "renders") },
          ]}
        >
          <Icon name="more" />
        </Menu>
      </span>
      <OutputDialogs />
    </header>
  );
}

function BackLink({ id }: { id: string }) {
  const params = { path: { project_id: id } };
  const project = useResource((stop) => must(api.GET("/api/v1/projects/{project_id}", { params, signal: stop })), [id]);
  useLiveReload(["project.updated"], project, (changed) => changed === id);
  const state = project.state.value;
  const label = `Back to ${state.kind === "ready" ? state.value.name : "the project"}`;
  return (
    <a class="button quiet icon-only" href={`/projects/${id}`} aria-label={label} title={label}>
      <Icon name="back" />
    </a>
  );
}

/** Chooses the open cut, and has the less frequent actions for it. Shows where its edits are. */
function CutMenu({ both }: { both: EditorWithDraft }) {
  const { cuts, cut, editor, keeper } = useEditor();
  const [isDeleting, setIsDeleting] = useState(false);
  const all = cuts.items.kind === "ready" ? cuts.items.value : [];
  if (cut === null || all.length === 0) return null;
  const name = describeCut(cut, all);
  const items: MenuItem[] = all.map((one) => ({
    label: describeCut(one, all),
    isChecked: one.id === cuts.openId,
    run: () => cuts.choose(one.id),
  }));
  const actions: MenuItem[] = [];
  if (keeper !== null && editor.isChanged.value)
    actions.push({ label: "Discard edits", icon: "undo", run: () => discardEdits(editor) });
  if (all.length > 1) actions.push({ label: "Compare with…", icon: "compare", run: openCompare });
  if (canWrite.value)
    actions.push({ label: "Delete cut", icon: "trash", isDangerous: true, run: () => setIsDeleting(true) });
  if (actions[0]) actions[0].hasRule = true;
  return (
    <>
      <Menu label={`Cut ${name}`} look="quiet cut-name" side="left" items={[...items, ...actions]}>
        <span class="soft wide-only">Cut </span>
        <span class="truncate">{name}</span>
        <Icon name="down" />
      </Menu>
      <span class="save-state wide-only">{keeper !== null && <SaveState keeper={keeper} />}</span>
      {isDeleting && <DeleteDialog cut={cut} name={name} both={both} onClose={() => setIsDeleting(false)} />}
    </>
  );
}

function openCompare(): void {
  openTab.value = "script";
  // The tab is shown a moment later.
  setTimeout(() => document.querySelector<HTMLElement>("#compare")?.focus());
}

/** Says where the edits are saved. */
function SaveState({ keeper }: { keeper: DraftKeeper }) {
  const state = keeper.state.value;
  if (state.kind === "saving") return <>Saving…</>;
  if (state.kind === "saved") return <>Draft saved</>;
  if (state.kind === "local") return <span title={state.message}>Kept in this browser</span>;
  return null;
}

type DeleteDialogProps = { cut: Cut; name: string; both: EditorWithDraft; onClose(): void };

function DeleteDialog({ cut, name, both: { keeper }, onClose }: DeleteDialogProps) {
  const { cuts } = useEditor();
  return (
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
      onClose={onClose}
    >
      <p>
        <strong>{name}</strong> is deleted with its edits, subtitles and renders. The recording and its other cuts stay.
        This cannot be undone.
      </p>
    </ConfirmDialog>
  );
}
