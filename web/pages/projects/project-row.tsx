import { useState } from "preact/hooks";
import type { Schemas } from "../../app/api";
import { canWrite } from "../../app/session";
import { Icon } from "../../ui/icon";
import { RelativeTime } from "../../ui/relative-time";
import { ProjectMenu } from "./project-menu";

export function ProjectRow({ project, onChange }: { project: Schemas["Project"]; onChange(): void }) {
  const [isRemoved, setIsRemoved] = useState(false);
  if (isRemoved) return null;
  return (
    <li class="row">
      <a class="row-link" href={`/projects/${project.id}`}>
        <Icon name="projects" />
        <span class="truncate" title={project.name} dir="auto">
          {project.name}
        </span>
      </a>
      <span class="soft row-time">
        <RelativeTime iso={project.last_activity_at} />
      </span>
      {canWrite.value && (
        <ProjectMenu
          project={project}
          onChange={onChange}
          onDeleted={() => {
            setIsRemoved(true);
            onChange();
          }}
        />
      )}
    </li>
  );
}
