/** Asks to which project recordings are moved. */

import { useState } from "preact/hooks";
import { MAX_SEARCH_CHARACTERS } from "../../../src/domain/field-limits";
import { api, must, type Schemas } from "../../app/api";
import { useRead } from "../../app/cache";
import { formatCount } from "../../app/format";
import { workspace } from "../../app/session";
import { useTyping } from "../../app/use-query";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { ErrorMessage, ErrorPanel } from "../../ui/states";

type Project = Schemas["Project"];

type MoveDialogProps = {
  count: number;
  /** The project in which they are. */
  projectId: string;
  onMove(project: Project): Promise<void>;
  onClose(): void;
};

const MAX_SHOWN = 20;

export function MoveDialog({ count, projectId, onMove, onClose }: MoveDialogProps) {
  const [wanted, setWanted] = useState("");
  const [text, setText] = useTyping(wanted, setWanted);
  const [error, setError] = useState<unknown>(null);
  const [busyId, setBusyId] = useState<string | null>(null);
  const list = useRead(["projects", workspace.value?.id, "to-move", wanted], (signal) => {
    const query = { limit: MAX_SHOWN + 1, state: "active" as const, ...(wanted && { q: wanted }) };
    return must(api.GET("/api/v1/projects", { params: { query }, signal }));
  });
  const found = list.state.value;
  const projects = found.kind === "ready" ? found.value.items.filter(({ id }) => id !== projectId) : [];
  const move = async (project: Project) => {
    setBusyId(project.id);
    try {
      await onMove(project);
      onClose();
    } catch (thrown) {
      setError(thrown);
      setBusyId(null);
    }
  };
  return (
    <Dialog title={`Move ${formatCount(count, "recording")}`} onClose={onClose}>
      <div class="dialog-body">
        <input
          class="input"
          type="search"
          data-first
          maxLength={MAX_SEARCH_CHARACTERS}
          aria-label="Search projects"
          placeholder="Search projects"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <ul class="move-list">
          {projects.slice(0, MAX_SHOWN).map((project) => (
            <li key={project.id}>
              <Button
                icon="projects"
                look="quiet"
                isBusy={busyId === project.id}
                disabled={busyId !== null}
                onClick={() => void move(project)}
              >
                <span class="truncate" dir="auto">
                  {project.name}
                </span>
              </Button>
            </li>
          ))}
        </ul>
        {found.kind === "ready" && projects.length === 0 && (
          <p class="soft">{wanted === "" ? "No other projects yet." : "No matching projects."}</p>
        )}
        {found.kind === "failed" && <ErrorPanel message={found.message} onRetry={() => void list.reload()} />}
        <ErrorMessage error={error} />
      </div>
    </Dialog>
  );
}
