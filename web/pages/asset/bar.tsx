/** The bar of the workspace: the recording, its cut with the state of the edits, and its outputs. */

import { useEffect, useRef, useState } from "preact/hooks";
import { MAX_ASSET_NAME_CHARACTERS } from "../../../src/domain/field-limits";
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
import { ActionButton } from "../../ui/button";
import { Icon } from "../../ui/icon";
import { listActionItems, Menu } from "../../ui/menu";
import { AssetStatus } from "../../ui/status";
import type { EditorWithDraft } from "./follow-versions";
import { findOutputProblems, OutputDialogs } from "./output/output-panel";
import { isCollapsed } from "./timeline-panel";
import { canPlayClean, toggleClean } from "./transport";
import { useProjectName } from "./use-media";

export function Bar({ both }: { both: EditorWithDraft }) {
  const context = useEditor();
  const { asset, editor, keeper, save } = context;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body || document.activeElement === null) heading.current?.focus();
  }, []);
  const name = nameOf(asset);
  const [isRenaming, setIsRenaming] = useState(false);
  const history = editor.history.value;
  const { exporting, rendering } = findOutputProblems(context);
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
          <ActionButton name="cut.save" icon={undefined} class="wide-only" isBusy={save.isSaving} isLabeled />
        </>
      )}
      {canWrite.value && editor.cut !== null && (
        <ActionButton name="output.share" class="wide-only">
          <span class="bar-label">Share</span>
        </ActionButton>
      )}
      <ActionButton name="output.export" class="wide-only" title={exporting}>
        <span class="bar-label">Export</span>
      </ActionButton>
      {canWrite.value && (
        <ActionButton
          name="output.render"
          look={editor.cut === null ? "default" : "primary"}
          class="filled"
          title={rendering}
        />
      )}
      <span class="narrow-only">
        <Menu
          label="More"
          items={[
            ...listActionItems([
              "output.export",
              "output.share",
              ...(keeper === null ? [] : ["cut.save", "edit.redo"]),
            ]),
            { label: "Renders", icon: "projects", run: () => (openTab.value = "renders") },
            ...(editor.cut === null
              ? []
              : [
                  {
                    label: "Collapse removed",
                    isOn: isCollapsed.value,
                    run: () => (isCollapsed.value = !isCollapsed.peek()),
                  },
                ]),
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
