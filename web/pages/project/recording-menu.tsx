/** The actions for a recording in the library. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import {
  MAX_ASSET_NAME_CHARACTERS,
  MAX_ASSET_NOTE_CHARACTERS,
  MAX_CUT_NAME_CHARACTERS,
  MAX_TAG_CHARACTERS,
  MAX_TAGS,
} from "../../../src/domain/field-limits";
import { api, must } from "../../app/api";
import { renderAgain } from "../../app/ended-render";
import { nameOf } from "../../app/format";
import { isPermanent } from "../../app/pipelines";
import { runDeletion } from "../../app/query-client";
import { splitList } from "../../app/rare-formats";
import { openDownload } from "../../app/save-file";
import { isBilled } from "../../app/session";
import { showFailure, showToast } from "../../app/toasts";
import { ConfirmDialog } from "../../ui/dialog";
import { Field, FieldError } from "../../ui/form";
import { FormDialog } from "../../ui/form-dialog";
import { Menu, type MenuItem } from "../../ui/menu";
import { keepFocus } from "../../ui/page";
import { ChooseProject } from "../projects/choose-project";
import type { Recording } from "./recording";

type Open = "rename" | "notes" | "move" | "delete";
type RecordingMenuProps = { recording: Recording; onChange(): void };

export function RecordingMenu({ recording, onChange }: RecordingMenuProps) {
  const [open, setOpen] = useState<Open | null>(null);
  /** The row goes, with the focus, when the list has been read again. */
  const isGoing = useRef(false);
  useEffect(() => () => void (isGoing.current && keepFocus()), []);
  const name = nameOf(recording);
  const onClose = () => setOpen(null);
  const params = { path: { asset_id: recording.id } };
  const items: (MenuItem | false)[] = [
    { label: "Rename", icon: "edit", run: () => setOpen("rename") },
    { label: "Notes and tags", icon: "flag", run: () => setOpen("notes") },
    { label: "Move", icon: "move", run: () => setOpen("move") },
    recording.latest_cut !== null && {
      label: "Duplicate the cut",
      icon: "copy",
      run: () => void duplicateCut(recording.latest_cut!.id).then(onChange, showFailure),
    },
    recording.last_render?.state === "failed" &&
      !isPermanent(recording.last_render.error_code) && {
        label: "Try the render again",
        icon: "undo",
        run: () => void renderAgain(recording.last_render!.id).then(onChange, showFailure),
      },
    recording.state === "ready" && {
      label: "Download the recording",
      icon: "download",
      run: () => void downloadSource(recording).catch(showFailure),
    },
    { label: "Delete", icon: "trash", isDangerous: true, hasRule: true, run: () => setOpen("delete") },
  ];
  return (
    <>
      <Menu label={`Actions for ${name}`} look="quiet icon-only dots" items={items.filter((item) => item !== false)} />
      {open === "rename" && <RenameDialog recording={recording} onSaved={onChange} onClose={onClose} />}
      {open === "notes" && <NotesDialog recording={recording} onSaved={onChange} onClose={onClose} />}
      {open === "move" && (
        <ChooseProject
          title="Move 1 recording"
          exceptId={recording.project_id}
          onChoose={async ({ id }) => {
            await must(api.PATCH("/api/v1/assets/{asset_id}", { params, body: { project_id: id } }));
            isGoing.current = true;
            onChange();
          }}
          onClose={onClose}
        />
      )}
      {open === "delete" && (
        <ConfirmDialog
          title="Delete this recording?"
          confirmLabel="Delete recording"
          onConfirm={async () => {
            await runDeletion(recording.id, must(api.DELETE("/api/v1/assets/{asset_id}", { params })));
            isGoing.current = true;
            onChange();
          }}
          onClose={onClose}
        >
          <p>
            <strong dir="auto">{name}</strong> is deleted with its cuts and renders, from the server's disk too.
            {isBilled.value && " Credits that were spent are not refunded."} This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** Downloads the file of a recording with a new link, because links expire after 15 minutes. */
async function downloadSource({ id, filename }: Recording): Promise<void> {
  const asset = await must(api.GET("/api/v1/assets/{asset_id}", { params: { path: { asset_id: id } } }));
  if (asset.download_url !== null) openDownload(asset.download_url, filename ?? "recording");
}

/** Saves the newest cut once more, as a version of its own. The original stays the one that opens first. */
async function duplicateCut(cutId: string): Promise<void> {
  const params = { path: { cut_id: cutId } };
  const { plan, name } = await must(api.GET("/api/v1/cuts/{cut_id}", { params }));
  const segments = (plan?.segments ?? []).map(({ start, end }) => ({ start, end }));
  const body = { segments, name: `Copy of ${name ?? "the cut"}`.slice(0, MAX_CUT_NAME_CHARACTERS), keep_draft: true };
  const saved = await must(api.POST("/api/v1/cuts/{cut_id}/edits", { params, body }));
  const href = `/assets/${saved.asset_id}?cut=${saved.id}`;
  showToast({ kind: "info", text: "The cut was duplicated.", link: { label: "Open", href } });
}

type RecordingDialogProps = { recording: Recording; onSaved(): void; onClose(): void };

type Label = { name?: string | null; tags?: string[]; note?: string | null };

async function save({ recording, onSaved, onClose }: RecordingDialogProps, body: Label): Promise<void> {
  await must(api.PATCH("/api/v1/assets/{asset_id}", { params: { path: { asset_id: recording.id } }, body }));
  onClose();
  onSaved();
}

const RenameDialog = (props: RecordingDialogProps) => (
  <FormDialog
    title="Rename recording"
    submitLabel="Rename"
    onSend={({ name = "" }) => save(props, { name: name.trim() })}
    onClose={props.onClose}
  >
    <Field
      label="Name"
      name="name"
      hint={props.recording.filename ?? undefined}
      maxLength={MAX_ASSET_NAME_CHARACTERS}
      isFirst
      value={nameOf(props.recording)}
    />
  </FormDialog>
);

function NotesDialog(props: RecordingDialogProps) {
  const noteId = useId();
  return (
    <FormDialog
      title="Notes and tags"
      submitLabel="Save"
      onSend={({ tags = "", note = "" }) => save(props, { tags: splitList(tags), note: note.trim() || null })}
      onClose={props.onClose}
    >
      <Field
        label="Tags"
        name="tags"
        hint="Separated by commas"
        maxLength={MAX_TAGS * (MAX_TAG_CHARACTERS + 2)}
        isFirst
        value={props.recording.tags.join(", ")}
      />
      <div class="field">
        <label class="label" for={noteId}>
          Note
        </label>
        <textarea id={noteId} class="input" name="note" rows={5} maxLength={MAX_ASSET_NOTE_CHARACTERS} dir="auto">
          {props.recording.note ?? ""}
        </textarea>
        <FieldError name="note" />
      </div>
    </FormDialog>
  );
}
