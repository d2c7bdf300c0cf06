/** Dialogs that change the name, tags and note of a recording. */

import { useId } from "preact/hooks";
import {
  MAX_ASSET_NAME_CHARACTERS,
  MAX_ASSET_NOTE_CHARACTERS,
  MAX_TAG_CHARACTERS,
  MAX_TAGS,
} from "../../../src/domain/field-limits";
import { api, must } from "../../app/api";
import { nameOf } from "../../app/format";
import { splitList } from "../../app/rare-formats";
import { Field } from "../../ui/form";
import { FormDialog } from "../../ui/form-dialog";
import type { Recording } from "./recording";

type RecordingDialogProps = { recording: Recording; onSaved(): void; onClose(): void };

type Label = { name?: string | null; tags?: string[]; note?: string | null };

async function save({ recording, onSaved, onClose }: RecordingDialogProps, body: Label): Promise<void> {
  await must(api.PATCH("/api/v1/assets/{asset_id}", { params: { path: { asset_id: recording.id } }, body }));
  onClose();
  onSaved();
}

export const RenameDialog = (props: RecordingDialogProps) => (
  <FormDialog
    title="Rename recording"
    submitLabel="Rename"
    onSend={({ name = "" }) => save(props, { name: name.trim() })}
    onClose={props.onClose}
  >
    {(errors) => (
      <>
        <Field
          label="Name"
          name="name"
          hint={props.recording.filename ?? undefined}
          maxLength={MAX_ASSET_NAME_CHARACTERS}
          isFirst
          value={nameOf(props.recording)}
          error={errors.name}
        />
      </>
    )}
  </FormDialog>
);

export function NotesDialog(props: RecordingDialogProps) {
  const noteId = useId();
  return (
    <FormDialog
      title="Notes and tags"
      submitLabel="Save"
      onSend={({ tags = "", note = "" }) => save(props, { tags: splitList(tags), note: note.trim() || null })}
      onClose={props.onClose}
    >
      {(errors) => (
        <>
          <Field
            label="Tags"
            name="tags"
            hint="Separated by commas"
            maxLength={MAX_TAGS * (MAX_TAG_CHARACTERS + 2)}
            isFirst
            value={props.recording.tags.join(", ")}
            error={errors.tags}
          />
          <div class="field">
            <label class="label" for={noteId}>
              Note
            </label>
            <textarea id={noteId} class="input" name="note" rows={5} maxLength={MAX_ASSET_NOTE_CHARACTERS} dir="auto">
              {props.recording.note ?? ""}
            </textarea>
            {errors.note && <span class="field-error">{errors.note}</span>}
          </div>
        </>
      )}
    </FormDialog>
  );
}
