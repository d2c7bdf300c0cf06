/** The setting of a project that cuts its new recordings. */

import { useState } from "preact/hooks";
import { CUT_MODE_NAMES, type CutMode } from "../../../src/domain/plan";
import { api, must, type Schemas } from "../../app/api";
import { listLanguages } from "../../app/rare-formats";
import { useStatus } from "../../app/shared-reads";
import { MODE_CHOICES } from "../../editor/versions/name-version";
import { SelectField } from "../../ui/form";
import { FormDialog } from "../../ui/form-dialog";

/** The modes with what they do, and the choice of no cut, as options of a field. */
export const CUT_CHOICES: { value: CutMode | "off"; label: string }[] = [
  { value: "off", label: "Do not cut" },
  ...MODE_CHOICES,
];

/** Returns the mode of a choice; null for no cut. */
export const toCutMode = (choice: string | undefined): CutMode | null =>
  CUT_MODE_NAMES.find((mode) => mode === choice) ?? null;

type CutSettingsProps = { project: Schemas["Project"]; onChange(): void; onClose(): void };

export function CutSettingsDialog({ project, onChange, onClose }: CutSettingsProps) {
  const params = { path: { project_id: project.id } };
  const { cut_after_upload: current } = project;
  const [choice, setChoice] = useState<string>(current?.mode ?? "off");
  const [language, setLanguage] = useState(current?.language ?? "");
  const status = useStatus().state.value;
  const codes = new Set([
    ...(current?.language ? [current.language] : []),
    ...(status.kind === "ready" ? status.value.languages : []),
  ]);
  return (
    <FormDialog
      title="Cut after upload"
      submitLabel="Save"
      onSend={async () => {
        const mode = toCutMode(choice);
        const cut_after_upload = mode && { mode, language: language || null };
        await must(api.PATCH("/api/v1/projects/{project_id}", { params, body: { cut_after_upload } }));
        onClose();
        onChange();
      }}
      onClose={onClose}
    >
      <p class="soft">
        New recordings are cut as soon as they are transcribed. Uploads in progress keep their setting. To cut by a
        script, drop it together with the recording, as a text file with the same name.
      </p>
      <SelectField label="Mode" value={choice} options={CUT_CHOICES} onChange={setChoice} />
      <SelectField
        label="Language"
        value={language}
        options={[{ value: "", label: "Detect" }, ...listLanguages([...codes])]}
        onChange={setLanguage}
      />
    </FormDialog>
  );
}
