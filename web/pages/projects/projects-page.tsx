import { useCallback, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { MAX_SEARCH_CHARACTERS } from "../../../src/domain/field-limits";
import { useActions } from "../../app/actions";
import { api, must } from "../../app/api";
import { useList } from "../../app/cache";
import { toNumber } from "../../app/english";
import { formatCount, formatDuration } from "../../app/format";
import { lazyPage, withStyle } from "../../app/routes";
import { canWrite, workspace } from "../../app/session";
import { showFailure } from "../../app/toasts";
import { Button } from "../../ui/button";
import { Segments } from "../../ui/filter-bar";
import { Icon } from "../../ui/icon";
import { Page } from "../../ui/page";
import { LoadMore } from "../../ui/row-list";
import { Empty, ListSkeleton } from "../../ui/states";
import { readDroppedFiles } from "../../upload/dropped-files";
import type { NewProjectDialog } from "./project-dialogs";
import { CHUNK_TILES, type ListedProject as Project, ProjectTiles } from "./project-tile";

const FirstMinute = lazyPage(withStyle("pages", () => import("./first-minute")));

const STATES = [
  { value: "active", label: "Active" },
  { value: "archived", label: "Archived" },
] as const;

/** The start page: the workspace's projects, most recently used first. */
export function ProjectsPage() {
  const { route } = useLocation();
  const [text, setText] = useState("");
  const [state, setState] = useState<Project["state"]>("active");
  const [Dialog, setDialog] = useState<typeof NewProjectDialog | null>(null);
  const create = useCallback(async () => {
    try {
      const { NewProjectDialog } = await import("./project-dialogs");
      setDialog(() => NewProjectDialog);
    } catch (error) {
      showFailure(error);
    }
  }, []);
  const list = useList<Project>(["projects", workspace.value?.id, text, state], (cursor, signal) => {
    const query = { limit: CHUNK_TILES, state, ...(cursor !== null && { cursor }), ...(text && { q: text }) };
    return must(api.GET("/api/v1/projects", { params: { query }, signal }));
  });
  useActions(() => {
    const row = { name: "projects.create", label: "New project", group: "Projects", keys: ["n"] };
    return canWrite.value ? [{ ...row, perform: () => void create() }] : [];
  }, [canWrite.value]);
  const items = list.items.value;
  const hasProjects = items !== null && items.length > 0;
  /** Whether the page offers to drop the first recording, with a primary button. */
  const isFirst = items?.length === 0 && text === "" && state === "active";
  const isComplete = hasProjects && !list.hasMore.value;
  const onChange = useCallback(() => void list.reload(), [list]);
  return (
    <Page
      title="Projects"
      detail={isComplete && text === "" && describeAll(items)}
      actions={
        canWrite.value && (
          <Button icon="plus" look={isFirst ? "quiet" : "primary"} onClick={() => void create()}>
            New project
          </Button>
        )
      }
    >
      <div class="toolbar">
        <Segments label="State" value={state} options={STATES} onChange={setState} />
        {!isFirst && (
          <input
            class="input search"
            type="search"
            maxLength={MAX_SEARCH_CHARACTERS}
            aria-label="Search projects"
            placeholder="Search projects"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </div>
      {items === null && list.error.value === null && <ListSkeleton />}
      {hasProjects && (
        <ProjectTiles projects={items} onChange={onChange}>
          {isComplete && canWrite.value && text === "" && state === "active" && <NewProjectTile />}
        </ProjectTiles>
      )}
      {items?.length === 0 && (
        <NoProjects
          text={text}
          state={state}
          onReset={() => {
            setText("");
            setState("active");
          }}
        />
      )}
      <LoadMore list={list} />
      {Dialog !== null && <Dialog onCreated={({ id }) => route(`/projects/${id}`)} onClose={() => setDialog(null)} />}
    </Page>
  );
}

function NewProjectTile() {
  const { route } = useLocation();
  const choose = () => void import("./first-minute").then(({ chooseFiles }) => chooseFiles(route), showFailure);
  // Files dropped elsewhere on the page ask for a project.
  const onDrop = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    const reading = readDroppedFiles(event.dataTransfer);
    import("./first-minute").then(({ uploadFiles }) => uploadFiles(reading, route)).catch(showFailure);
  };
  return (
    <li class="project">
      <button type="button" class="new-project" onClick={choose} onDrop={onDrop}>
        <span class="upload-mark">
          <Icon name="upload" />
        </span>
        <b>Drop or choose files</b>
        <span class="soft">They become a new project</span>
      </button>
    </li>
  );
}

function NoProjects({ text, state, onReset }: { text: string; state: Project["state"]; onReset(): void }) {
  if (text || state === "archived")
    return (
      <Empty title={text ? `No project matches “${text}”` : "No archived projects"} icon={text ? "search" : "projects"}>
        <Button onClick={onReset}>Show all active projects</Button>
      </Empty>
    );
  return <FirstMinute />;
}

/** "5 projects · 91 recordings · 56 h 22 min" */
function describeAll(projects: readonly Project[]): string {
  const recordings = projects.reduce((sum, { totals }) => sum + totals.recordings, 0);
  const seconds = projects.reduce((sum, { totals }) => sum + totals.duration, 0);
  const minutes = Math.round(seconds / 60);
  const [hours, rest] = [Math.floor(minutes / 60), `${minutes % 60} min`];
  const length = hours > 0 ? `${toNumber(hours)} h ${rest}` : seconds < 60 ? formatDuration(seconds) : rest;
  const counts = [formatCount(projects.length, "project"), formatCount(recordings, "recording")];
  return [...counts, ...(seconds > 0 ? [length] : [])].join(" · ");
}
