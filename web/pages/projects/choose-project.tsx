/** Asks which project of the workspace recordings are moved or uploaded to. */
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { MAX_NAME_CHARACTERS, MAX_SEARCH_CHARACTERS } from "../../../src/domain/field-limits";
import { api, must, type Schemas } from "../../app/api";
import { useRead } from "../../app/cache";
import { currentWorkspaceId, toWorkspaceHeader, type WorkspaceHeader } from "../../app/session";
import { useTyping } from "../../app/use-query";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { ErrorMessage, ErrorPanel } from "../../ui/states";

type Project = Schemas["Project"];

type ChooseProjectProps = {
  title: string;
  /** ID of a project that is not offered. */
  exceptId?: string;
  /** The workspace whose projects are offered. Default: the one that the pages show. */
  inWorkspace?: WorkspaceHeader;
  /** Another choice, above the projects. */
  children?: ComponentChildren;
  /** Rejects with an error to show in the dialog, which then stays open. `signal`: the user has closed the dialog. */
  onChoose(project: Project, signal: AbortSignal): Promise<void>;
  onClose(): void;
};

const MAX_SHOWN = 20;
/** More are read than shown, because a project with exactly the searched name comes first. */
const MAX_READ = 100;
/** In the place of an ID while a project is created. */
const NEW = "new";

export function ChooseProject({ title, exceptId, inWorkspace, children, onChoose, onClose }: ChooseProjectProps) {
  const [wanted, setWanted] = useState("");
  const [text, setText] = useTyping(wanted, setWanted);
  const [error, setError] = useState<unknown>(null);
  const [busyId, setBusyId] = useState<string | null>(null);
  const headers = inWorkspace ?? toWorkspaceHeader(currentWorkspaceId());
  const searched = wanted.trim();
  const list = useRead(["projects", headers, "to-choose", searched], (signal) => {
    const query = { limit: MAX_READ, state: "active" as const, ...(searched && { q: searched }) };
    return must(api.GET("/api/v1/projects", { params: { query }, headers, signal }));
  });
  const found = list.state.value;
  const name = text.trim();
  const isNamed = (project: Project) => project.name === name;
  const all = found.kind === "ready" ? found.value.items : [];
  const projects = all
    .filter(({ id }) => id !== exceptId)
    .sort((one, other) => Number(isNamed(other)) - Number(isNamed(one)));
  const closing = useMemo(() => new AbortController(), []);
  useEffect(() => () => closing.abort(), []);
  const choose = async (id: string, project: () => Promise<Project>) => {
    setBusyId(id);
    try {
      await onChoose(await project(), closing.signal);
      onClose();
    } catch (thrown) {
      setError(thrown);
      setBusyId(null);
    }
  };
  const isRead = found.kind === "ready" && searched === name;
  const canCreate = isRead && name !== "" && name.length <= MAX_NAME_CHARACTERS && !all.some(isNamed);
  const create = () =>
    must(api.POST("/api/v1/projects", { body: { name, cut_after_upload: {} }, headers, signal: closing.signal }));
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="dialog-body">
        {children}
        <input
          class="input"
          type="search"
          data-first={children === undefined ? "" : undefined}
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
                onClick={() => void choose(project.id, async () => project)}
              >
                <span class="truncate" dir="auto">
                  {project.name}
                </span>
              </Button>
            </li>
          ))}
          {canCreate && (
            <li>
              <Button
                icon="plus"
                look="quiet"
                isBusy={busyId === NEW}
                disabled={busyId !== null}
                onClick={() => void choose(NEW, create)}
              >
                <span class="truncate" dir="auto">
                  New project “{name}”
                </span>
              </Button>
            </li>
          )}
        </ul>
        {found.kind === "ready" && projects.length === 0 && (
          <p class="soft">
            {searched === "" ? "No other projects yet. Type a name to create one." : "No matching projects."}
          </p>
        )}
        {found.kind === "failed" && <ErrorPanel error={found.error} onRetry={() => void list.reload()} />}
        <ErrorMessage error={error} />
      </div>
    </Dialog>
  );
}
