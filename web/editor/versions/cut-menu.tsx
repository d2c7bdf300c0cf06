/** The menu of the cut's versions, which opens one and has the actions for the open one. */

import { useState } from "preact/hooks";
import { MAX_CUT_NAME_CHARACTERS, MAX_CUT_NOTE_CHARACTERS } from "../../../src/domain/field-limits";
import { api, must } from "../../app/api";
import { connection } from "../../app/connection";
import { toClock } from "../../app/english";
import { formatShortDay } from "../../app/format";
import { canWrite } from "../../app/session";
import type { EditorWithDraft } from "../../pages/asset/follow-versions";
import { deleteCut } from "../../pages/asset/use-cuts";
import { ConfirmDialog } from "../../ui/dialog";
import { Field } from "../../ui/form";
import { FormDialog, NameDialog } from "../../ui/form-dialog";
import { Icon } from "../../ui/icon";
import { listActionItems, Menu, type MenuItem } from "../../ui/menu";
import { openTab, useEditor } from "../state/context";
import { discardEdits } from "../state/edit-actions";
import type { Cut } from "../state/editor-state";
import { describeVersion, nameVersion, nameVersions, proposeName } from "./name-version";

type OpenDialog = "rename" | "delete" | null;

export function CutMenu({ both }: { both: EditorWithDraft }) {
  const { cuts, cut, editor, keeper, save } = useEditor();
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const all = cuts.items.kind === "ready" ? cuts.items.value : [];
  if (cut === null || all.length === 0) return null;
  const name = nameVersion(cut, all);
  const close = () => setDialog(null);
  const closeNaming = () => {
    save.isNaming.value = false;
  };
  const versions: MenuItem[] = all.map((one) => ({
    id: one.id,
    label: nameVersion(one, all),
    detail: describeVersion(one),
    isChecked: one.id === cut.id,
    run: () => cuts.choose(one.id),
  }));
  const actions: MenuItem[] = [];
  if (keeper !== null && editor.isChanged.value)
    actions.push(...listActionItems(["cut.save"]), {
      label: "Discard edits",
      icon: "undo",
      run: () => discardEdits(editor),
    });
  if (keeper !== null) actions.push(...listActionItems(["cut.save-as"]));
  if (all.length > 1) actions.push({ label: "Compare with…", icon: "compare", run: openCompare });
  // While a re-cut is awaited, the name in the menu is that of its source.
  if (canWrite.value && cuts.awaited === null)
    actions.push(
      { label: "Rename", icon: "edit", run: () => setDialog("rename") },
      { label: "Delete cut", icon: "trash", isDangerous: true, run: () => setDialog("delete") },
    );
  if (actions[0]) actions[0].hasRule = true;
  return (
    <>
      <div class="cut-title">
        <Menu label={`Cut ${name}`} look="quiet cut-name" side="left" items={[...versions, ...actions]}>
          <span class="soft wide-only">Cut </span>
          <span class="truncate" dir="auto">
            {name}
          </span>
          <Icon name="down" />
        </Menu>
        <span class="save-state">
          <SaveState />
        </span>
      </div>
      {dialog === "delete" && <DeleteDialog cut={cut} name={name} both={both} onClose={close} />}
      {dialog === "rename" && (
        <LabelDialog
          name={nameVersions(all).get(cut.id) ?? ""}
          note={all.find(({ id }) => id === cut.id)?.note ?? ""}
          onSend={async (label) => {
            const params = { path: { cut_id: cut.id } };
            await must(api.PATCH("/api/v1/cuts/{cut_id}", { params, body: label }));
            await cuts.list.reload();
            close();
          }}
          onClose={close}
        />
      )}
      {save.isNaming.value && (
        <NameDialog
          title="Save as new version"
          value={proposeName(editor.history.value.present.pacing ?? cut.options, all)}
          submitLabel="Save"
          maxLength={MAX_CUT_NAME_CHARACTERS}
          onSend={async (name) => {
            await save.saveAs(name);
            closeNaming();
          }}
          onClose={closeNaming}
        />
      )}
    </>
  );
}

function openCompare(): void {
  openTab.value = "script";
  // The tab is shown a moment later.
  setTimeout(() => document.querySelector<HTMLElement>("#compare")?.focus());
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
        try {
          await deleteCut(cut.id);
        } catch (error) {
          keeper?.resume();
          throw error;
        }
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

function SaveState() {
  const { cut, keeper, save } = useEditor();
  if (keeper === null || cut === null) return null;
  const { value: state } = keeper.state;
  if (save.isSaving || state.kind === "saving") return <>Saving…</>;
  const isKept = state.kind === "local" || state.kind === "conflict";
  // Instead of the message that other pages show.
  if (connection.value !== "online")
    return (
      <span data-offline>
        Offline
        {isKept && (
          <>
            , kept <span class="wide-only">in this browser</span>
            <span class="narrow-only">here</span>
          </>
        )}
      </span>
    );
  if (state.kind === "local") return <span title={state.message}>Kept in this browser</span>;
  if (isKept) return <>Kept in this browser</>;
  if (state.kind === "saved")
    return (
      <span data-draft title="The edits are stored as a draft. Save keeps them as a version.">
        Saved {describeTime(new Date(state.at))}
      </span>
    );
  return <>Saved {describeTime(new Date(cut.created_at))}</>;
}

/** Returns "4:12 PM", before today "Nov 23". */
function describeTime(time: Date): string {
  const now = new Date();
  if (time.toDateString() === now.toDateString()) return toClock(time);
  return formatShortDay(time);
}

type LabelDialogProps = {
  name: string;
  note: string;
  onSend(label: { name: string; note: string }): Promise<void>;
  onClose(): void;
};

/** Changes the name and the note of a version. */
const LabelDialog = ({ name, note, onSend, onClose }: LabelDialogProps) => (
  <FormDialog
    title="Rename"
    submitLabel="Save"
    onSend={(values) => onSend({ name: (values.name ?? "").trim(), note: (values.note ?? "").trim() })}
    onClose={onClose}
  >
    <Field label="Name" name="name" maxLength={MAX_CUT_NAME_CHARACTERS} isFirst value={name} />
    <Field label="Note" name="note" maxLength={MAX_CUT_NOTE_CHARACTERS} value={note} />
  </FormDialog>
);
