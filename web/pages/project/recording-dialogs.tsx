/** What users can say about a recording: its name, tags and note. */

import { useId } from "preact/hooks";
import {
  MAX_ASSET_NAME_CHARACTERS,
  MAX_ASSET_NOTE_CHARACTERS,
  MAX_TAG_CHARACTERS,
  MAX_TAGS,
} from "../../../src/domain/field-limits";
import { api, must } from "../../app/api";
import { nameOf } from "../../app/format";
import { Dialog, FormActions } from "../../ui/dialog";
import { Field, Form } from "../../ui/form";
import type { Recording } from "./recording";

type RecordingDialogProps = { recording: Recording; onSaved(): void; onClose(): void };

type Label = { name?: string | null; tags?: string[]; note?: string | null };

async function save({ recording, onSaved, onClose }: RecordingDialogProps, body: Label): Promise<void> {
  await must(api.PATCH("/api/v1/assets/{asset_id}", { params: { path: { asset_id: recording.id } }, body }));
  onClose();
  onSaved();
}

export const RenameDialog = (props: RecordingDialogProps) => (
  <Dialog title="Rename recording" onClose={props.onClose}>
    <Form class="dialog-body" onSend={({ name = "" }) => save(props, { name: name.trim() })}>
      {({ errors, isSending }) => (
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
          <FormActions submitLabel="Rename" isSending={isSending} onCancel={props.onClose} />
        </>
      )}
    </Form>
  </Dialog>
);

/** Returns the tags of a text such as "interview, day 1". */
export const readTags = (text: string): string[] =>
  text
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);

export function NotesDialog(props: RecordingDialogProps) {
  const noteId = useId();
  return (
    <Dialog title="Notes and tags" onClose={props.onClose}>
      <Form
        class="dialog-body"
        onSend={({ tags = "", note = "" }) => save(props, { tags: readTags(tags), note: note.trim() || null })}
      >
        {({ errors, isSending }) => (
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
            <FormActions submitLabel="Save" isSending={isSending} onCancel={props.onClose} />
          </>
        )}
      </Form>
    </Dialog>
  );
}
