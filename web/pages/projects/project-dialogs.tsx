/** The dialogs of projects, which are loaded when one is first opened. */

import { MAX_NAME_CHARACTERS } from "../../../src/domain/field-limits";
import { api, must, type Schemas } from "../../app/api";
import { runDeletion } from "../../app/query-client";
import { isBilled, workspace } from "../../app/session";
import { ConfirmDialog, Dialog } from "../../ui/dialog";
import { NameDialog } from "../../ui/form-dialog";
import { VocabularyList } from "../vocabulary/vocabulary-list";
import { CutSettingsDialog } from "./cut-settings";

type Project = Schemas["Project"];

type NewProjectProps = { onCreated(project: Project): void; onClose(): void };

export const NewProjectDialog = ({ onCreated, onClose }: NewProjectProps) => (
  <NameDialog
    title="New project"
    submitLabel="Create"
    maxLength={MAX_NAME_CHARACTERS}
    onSend={async (name) => {
      const project = await must(api.POST("/api/v1/projects", { body: { name, cut_after_upload: {} } }));
      onClose();
      onCreated(project);
    }}
    onClose={onClose}
  />
);

export type ProjectDialog = "rename" | "cut" | "vocabulary" | "delete";

type ProjectDialogsProps = {
  project: Project;
  open: ProjectDialog;
  onChange(): void;
  onDeleted(): void;
  onClose(): void;
};

/** The open dialog of a project. */
export function ProjectDialogs({ project, open, onChange, onDeleted, onClose }: ProjectDialogsProps) {
  const params = { path: { project_id: project.id } };
  switch (open) {
    case "rename":
      return (
        <NameDialog
          title="Rename project"
          submitLabel="Rename"
          maxLength={MAX_NAME_CHARACTERS}
          value={project.name}
          onSend={async (name) => {
            await must(api.PATCH("/api/v1/projects/{project_id}", { params, body: { name } }));
            onClose();
            onChange();
          }}
          onClose={onClose}
        />
      );
    case "cut":
      return <CutSettingsDialog project={project} onChange={onChange} onClose={onClose} />;
    case "vocabulary":
      return (
        workspace.value && (
          <Dialog title="Vocabulary" isWide onClose={onClose}>
            <div class="dialog-body">
              <p class="soft">
                Names and terms in their correct spelling. New transcripts and cuts of this project use these terms
                first, then those of the workspace.
              </p>
              <VocabularyList owner={{ workspaceId: workspace.value.id, projectId: project.id }} canEdit />
            </div>
          </Dialog>
        )
      );
    case "delete":
      return (
        <ConfirmDialog
          title="Delete this project?"
          confirmLabel="Delete project"
          onConfirm={async () => {
            await runDeletion(project.id, must(api.DELETE("/api/v1/projects/{project_id}", { params })));
            onDeleted();
          }}
          onClose={onClose}
        >
          <p>
            <strong dir="auto">{project.name}</strong> is deleted with all of its recordings, cuts and renders, from the
            server's disk too.{isBilled.value && " Credits that were spent are not refunded."} This cannot be undone.
          </p>
        </ConfirmDialog>
      );
  }
}
