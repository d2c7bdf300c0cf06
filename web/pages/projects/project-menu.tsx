import { useState } from "preact/hooks";
import { MAX_NAME_CHARACTERS } from "../../../src/domain/field-limits";
import { api, must, type Schemas } from "../../app/api";
import { runDeletion } from "../../app/query-client";
import { isBilled, workspace } from "../../app/session";
import { showFailure } from "../../app/toasts";
import { ConfirmDialog, Dialog, FormActions } from "../../ui/dialog";
import { Field, Form } from "../../ui/form";
import { Icon } from "../../ui/icon";
import { Menu } from "../../ui/menu";
import type { VocabularyList } from "../vocabulary/vocabulary-list";
import type { CutSettingsDialog } from "./cut-settings";

type ProjectMenuProps = { project: Schemas["Project"]; onChange(): void; onDeleted(): void };

type Loaded = { CutSettingsDialog: typeof CutSettingsDialog; VocabularyList: typeof VocabularyList };

/** The actions for a project. */
export function ProjectMenu({ project, onChange, onDeleted }: ProjectMenuProps) {
  const [open, setOpen] = useState<"rename" | "cut" | "vocabulary" | "delete" | null>(null);
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  /** Opens what is loaded when it is first opened: the first page has this menu, too. */
  const load = async (name: "cut" | "vocabulary") => {
    try {
      const [cut, list] = await Promise.all([import("./cut-settings"), import("../vocabulary/vocabulary-list")]);
      setLoaded({ ...cut, ...list });
      setOpen(name);
    } catch (error) {
      showFailure(error);
    }
  };
  const params = { path: { project_id: project.id } };
  const isArchived = project.state === "archived";
  const setState = async () => {
    try {
      const state = isArchived ? "active" : "archived";
      await must(api.PATCH("/api/v1/projects/{project_id}", { params, body: { state } }));
      onChange();
    } catch (error) {
      showFailure(error);
    }
  };
  return (
    <>
      <Menu
        label={`Actions for ${project.name}`}
        items={[
          { label: "Rename", run: () => setOpen("rename") },
          { label: "Cut after upload…", run: () => void load("cut") },
          { label: "Vocabulary…", run: () => void load("vocabulary") },
          { label: isArchived ? "Move back to active" : "Archive", run: () => void setState() },
          { label: "Delete", icon: "trash", isDangerous: true, run: () => setOpen("delete") },
        ]}
      >
        <Icon name="more" />
      </Menu>
      {open === "rename" && (
        <Dialog title="Rename project" onClose={() => setOpen(null)}>
          <Form
            class="dialog-body"
            onSend={async ({ name = "" }) => {
              await must(api.PATCH("/api/v1/projects/{project_id}", { params, body: { name: name.trim() } }));
              setOpen(null);
              onChange();
            }}
          >
            {({ errors, isSending }) => (
              <>
                <Field
                  label="Name"
                  name="name"
                  maxLength={MAX_NAME_CHARACTERS}
                  required
                  isFirst
                  value={project.name}
                  error={errors.name}
                />
                <FormActions submitLabel="Rename" isSending={isSending} onCancel={() => setOpen(null)} />
              </>
            )}
          </Form>
        </Dialog>
      )}
      {open === "cut" && loaded && (
        <loaded.CutSettingsDialog project={project} onChange={onChange} onClose={() => setOpen(null)} />
      )}
      {open === "vocabulary" && loaded && workspace.value && (
        <Dialog title="Vocabulary" isWide onClose={() => setOpen(null)}>
          <div class="dialog-body">
            <p class="soft">
              Names and terms in their correct spelling. New transcripts and cuts of this project use these terms first,
              then those of the workspace.
            </p>
            <loaded.VocabularyList owner={{ workspaceId: workspace.value.id, projectId: project.id }} canEdit />
          </div>
        </Dialog>
      )}
      {open === "delete" && (
        <ConfirmDialog
          title="Delete this project?"
          confirmLabel="Delete project"
          onConfirm={async () => {
            await runDeletion(project.id, must(api.DELETE("/api/v1/projects/{project_id}", { params })));
            onDeleted();
          }}
          onClose={() => setOpen(null)}
        >
          <p>
            <strong dir="auto">{project.name}</strong> is deleted with all of its recordings, cuts and renders, from the
            server's disk too.{isBilled.value && " Credits that were spent are not refunded."} This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}
