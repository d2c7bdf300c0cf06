/** The bar of the workspace: the recording, its cut with the state of the edits, and its outputs. */

import { useEffect, useRef, useState } from "preact/hooks";
import { MAX_ASSET_NAME_CHARACTERS } from "../../../src/domain/field-limits";
import { performAction } from "../../app/actions";
import { api, must } from "../../app/api";
import { nameOf } from "../../app/format";
import { toOpener } from "../../app/places";
import { invalidate } from "../../app/query-client";
import { canWrite } from "../../app/session";
import { showFailure } from "../../app/toasts";
import { findRedoLabel, findUndoLabel } from "../../editor/model/history";
import { People } from "../../editor/people/people";
import { openTab, useEditor } from "../../editor/state/context";
import { isClean } from "../../editor/state/player-settings";
import { CutMenu } from "../../editor/versions/cut-menu";
import { ActionButton, Button } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { Menu } from "../../ui/menu";
import { AssetStatus } from "../../ui/status";
import type { EditorWithDraft } from "./follow-versions";
import { OutputDialogs, openShare } from "./output/output-panel";
import { canPlayClean, toggleClean } from "./transport";
import { useProjectName } from "./use-media";

const PREPARING = "The recording is still being prepared";
const MAKING = "The cut is not ready yet";

export function Bar({ both }: { both: EditorWithDraft }) {
  const { asset, cuts, editor, keeper, save, output } = useEditor();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement === null) heading.current?.focus();
  }, []);
  const name = nameOf(asset);
  const [isRenaming, setIsRenaming] = useState(false);
  const history = editor.history.value;
  const isMaking = cuts.awaited !== null;
  const canExport = editor.cut !== null && !isMaking;
  const exportTitle = canExport ? undefined : isMaking ? MAKING : canWrite.value ? "Create a cut first" : "No cut yet";
  const render = () => {
    output.opened.value = "render";
  };
  const openExport = () => {
    output.opened.value = "export";
  };
  return (
    <header class="work-bar">
      <BackLink id={asset.project_id} />
      <h1
        ref={heading}
        class="truncate"
        tabIndex={-1}
        title={canWrite.value ? `${name} (double-click renames)` : name}
        dir="auto"
        onDblClick={() => setIsRenaming(canWrite.value)}
      >
        {isRenaming ? <RenameField name={name} onClose={() => setIsRenaming(false)} /> : name}
      </h1>
      {asset.state !== "ready" && <AssetStatus state={asset.state} cuttable={asset.cuttable} />}
      <CutMenu both={both} />
      <span class="spacer" />
      <People />
      {keeper !== null && (
        <>
          <ActionButton name="edit.undo" detail={findUndoLabel(history)} class="wide-only" />
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
      {canWrite.value && editor.cut !== null && (
        <Button class="wide-only" icon="link" disabled={isMaking} onClick={() => openShare(output, editor.cut?.id)}>
          <span class="bar-label">Share</span>
        </Button>
      )}
      <Button class="wide-only" icon="download" disabled={!canExport} title={exportTitle} onClick={openExport}>
        <span class="bar-label">Export</span>
      </Button>
      {canWrite.value && (
        <Button
          look={editor.cut === null ? "default" : "primary"}
          class="filled"
          disabled={!asset.cuttable || isMaking}
          title={isMaking ? MAKING : asset.cuttable ? undefined : PREPARING}
          onClick={render}
        >
          Render
        </Button>
      )}
      <span class="narrow-only">
        <Menu
          label="More"
          items={[
            ...(canExport ? [{ label: "Export", icon: "download" as const, run: openExport }] : []),
            ...(canWrite.value && canExport
              ? [{ label: "Share", icon: "link" as const, run: () => openShare(output, editor.cut?.id) }]
              : []),
            ...(keeper === null
              ? []
              : [
                  { label: "Save", icon: "check" as const, run: () => performAction("cut.save") },
                  { label: "Redo", icon: "redo" as const, run: () => performAction("edit.redo") },
                ]),
            { label: "Renders", icon: "projects", run: () => (openTab.value = "renders") },
            ...(canPlayClean(asset) ? [{ label: "Clean audio", isOn: isClean.value, run: toggleClean }] : []),
          ]}
        >
          <Icon name="more" />
        </Menu>
      </span>
      <OutputDialogs />
    </header>
  );
}

/** The name of the recording as a field. Enter saves, Escape and leaving it do not. */
function RenameField({ name, onClose }: { name: string; onClose(): void }) {
  const { asset, editor } = useEditor();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const save = async (text: string) => {
    onClose();
    if (text === name) return;
    try {
      const params = { path: { asset_id: asset.id } };
      await must(api.PATCH("/api/v1/assets/{asset_id}", { params, body: { name: text === "" ? null : text } }));
      invalidate(["asset", asset.id]);
      editor.announce("Renamed");
    } catch (error) {
      showFailure(error);
    }
  };
  return (
    <input
      ref={field}
      class="input"
      aria-label="Name of the recording"
      maxLength={MAX_ASSET_NAME_CHARACTERS}
      defaultValue={name}
      onBlur={onClose}
      onKeyDown={(event) => {
        if (event.key === "Escape") onClose();
        if (event.key === "Enter") void save(event.currentTarget.value.trim());
      }}
    />
  );
}

function BackLink({ id }: { id: string }) {
  const label = `Back to ${useProjectName(id) ?? "the project"}`;
  return (
    <a class="button quiet icon-only" href={toOpener(`/projects/${id}`)} aria-label={label} title={label} data-back>
      <Icon name="back" />
    </a>
  );
}
