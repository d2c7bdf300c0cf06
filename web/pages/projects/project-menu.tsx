import { useState } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { pinnedIds, togglePin, unpin } from "../../app/pins";
import { canWrite } from "../../app/session";
import { showFailure } from "../../app/toasts";
import { Icon } from "../../ui/icon";
import { Menu, type MenuItem } from "../../ui/menu";
import type { ProjectDialog, ProjectDialogs } from "./project-dialogs";

type ProjectMenuProps = { project: Schemas["Project"]; onChange(): void; onDeleted(): void };

type Open = { name: ProjectDialog; Dialogs: typeof ProjectDialogs };

/** The actions for a project. */
export function ProjectMenu({ project, onChange, onDeleted }: ProjectMenuProps) {
  const [open, setOpen] = useState<Open | null>(null);
  const show = async (name: ProjectDialog) => {
    try {
      const { ProjectDialogs: Dialogs } = await import("./project-dialogs");
      setOpen({ name, Dialogs });
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
  const changes: MenuItem[] = [
    { label: "Rename", run: () => void show("rename") },
    { label: "Cut after upload…", run: () => void show("cut") },
    { label: "Vocabulary…", run: () => void show("vocabulary") },
    { label: isArchived ? "Unarchive" : "Archive", run: () => void setState() },
    { label: "Delete", icon: "trash", isDangerous: true, run: () => void show("delete") },
  ];
  return (
    <>
      <Menu
        label={`Actions for ${project.name}`}
        items={[
          {
            label: pinnedIds.value.includes(project.id) ? "Unpin" : "Pin",
            run: () => togglePin(project.id),
          },
          ...(canWrite.value ? changes : []),
        ]}
      >
        <Icon name="more" />
      </Menu>
      {open && (
        <open.Dialogs
          project={project}
          open={open.name}
          onChange={onChange}
          onDeleted={() => {
            unpin(project.id);
            onDeleted();
          }}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  );
}
