import type { ComponentChildren } from "preact";
import { useCallback, useMemo, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { MAX_SEARCH_CHARACTERS } from "../../../src/domain/field-limits";
import { useActions } from "../../app/actions";
import { api, mediaUrl, must, type Schemas } from "../../app/api";
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
import { LoadMore, useChunks } from "../../ui/row-list";
import { Empty, ListSkeleton } from "../../ui/states";
import { RelativeTime } from "../../ui/time";
import { readDroppedFiles } from "../../upload/dropped-files";
import { Envelope } from "../project/envelope";
import type { NewProjectDialog } from "./project-dialogs";
import { ProjectMenu } from "./project-menu";

const FirstMinute = lazyPage(withStyle("pages", () => import("./first-minute")));

const STATES = [
  { value: "active", label: "Active" },
  { value: "archived", label: "Archived" },
] as const;

/** The start page: the workspace's projects, most recently used first. */
export function ProjectsPage() {
  const { route } = useLocation();
  const [text, setText] = useState("");
  const [state, setState] = useState<ListedProject["state"]>("active");
  const [Dialog, setDialog] = useState<typeof NewProjectDialog | null>(null);
  const create = useCallback(async () => {
    try {
      const { NewProjectDialog } = await import("./project-dialogs");
      setDialog(() => NewProjectDialog);
    } catch (error) {
      showFailure(error);
    }
  }, []);
  const list = useList<ListedProject>(["projects", workspace.value?.id, text, state], (cursor, signal) => {
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

function NoProjects({ text, state, onReset }: { text: string; state: ListedProject["state"]; onReset(): void }) {
  if (text || state === "archived")
    return (
      <Empty title={text ? `No project matches “${text}”` : "No archived projects"} icon={text ? "search" : "projects"}>
        <Button onClick={onReset}>Show all active projects</Button>
      </Empty>
    );
  return <FirstMinute />;
}

/** "5 projects · 91 recordings · 56 h 22 min" */
function describeAll(projects: readonly ListedProject[]): string {
  const recordings = projects.reduce((sum, { totals }) => sum + totals.recordings, 0);
  const seconds = projects.reduce((sum, { totals }) => sum + totals.duration, 0);
  const minutes = Math.round(seconds / 60);
  const [hours, rest] = [Math.floor(minutes / 60), `${minutes % 60} min`];
  const length = hours > 0 ? `${toNumber(hours)} h ${rest}` : seconds < 60 ? formatDuration(seconds) : rest;
  const counts = [formatCount(projects.length, "project"), formatCount(recordings, "recording")];
  return [...counts, ...(seconds > 0 ? [length] : [])].join(" · ");
}

type ListedProject = Schemas["ListedProject"];

/** Divisible by every number of columns up to six, so that only the last chunk ends with a gap. */
const CHUNK_TILES = 60;

type TilesProps = {
  projects: ListedProject[];
  /** Must stay the same function between renders. */
  onChange(): void;
  /** Content after the last project. */
  children: ComponentChildren;
};

function ProjectTiles({ projects, onChange, children }: TilesProps) {
  const chunks = useChunks(projects, CHUNK_TILES);
  return (
    <div class="projects">
      {chunks.map((some, number) => (
        <Chunk key={number} projects={some} onChange={onChange}>
          {number === chunks.length - 1 && children}
        </Chunk>
      ))}
    </div>
  );
}

const Chunk = ({ projects, onChange, children }: TilesProps) => {
  const tiles = useMemo(
    () => projects.map((project) => <ProjectTile key={project.id} project={project} onChange={onChange} />),
    [projects, onChange],
  );
  return (
    <ul class="project-chunk" style={{ "--tiles": projects.length }}>
      {tiles}
      {children}
    </ul>
  );
};

function ProjectTile({ project, onChange }: { project: ListedProject; onChange(): void }) {
  const [isRemoved, setIsRemoved] = useState(false);
  if (isRemoved) return null;
  const { id, name, totals, newest_assets } = project;
  const href = `/projects/${id}`;
  return (
    <li class="project">
      {/* biome-ignore lint/a11y/useAnchorContent: the heading has the same link. */}
      <a class="mosaic" href={href} tabIndex={-1} aria-hidden="true">
        {newest_assets.map(({ id, has_poster }) => (
          <span key={id}>
            {has_poster ? (
              <img src={mediaUrl(id, "poster")} alt="" loading="lazy" decoding="async" />
            ) : (
              <Envelope id={id} />
            )}
          </span>
        ))}
        {newest_assets.length === 0 && <Icon name="projects" />}
      </a>
      <div class="project-text">
        <h2>
          <a href={href} title={name} dir="auto">
            {name}
          </a>
        </h2>
        <ProjectMenu
          project={project}
          onChange={onChange}
          onDeleted={() => {
            setIsRemoved(true);
            onChange();
          }}
        />
        <p class="soft number">
          {totals.recordings === 0
            ? "No recordings yet"
            : `${formatCount(totals.recordings, "recording")} · ${formatDuration(totals.duration)}`}
        </p>
        <p class="project-foot">
          <LeftToDo totals={totals} />
          <RelativeTime iso={project.last_activity_at} />
        </p>
      </div>
    </li>
  );
}

function LeftToDo({ totals }: Pick<ListedProject, "totals">) {
  const { recordings, open_marks: marks, without_cut: uncut, uncounted } = totals;
  if (marks > 0)
    return (
      <b class="number">
        <Icon name="flag" />
        {formatCount(marks, "place")} to review
      </b>
    );
  if (uncut > 0) return <span class="number">{formatCount(uncut, "without a cut", "without a cut")}</span>;
  // Nobody knows yet what is left in the cuts of an older version.
  if (recordings === 0 || uncounted > 0) return <span />;
  return (
    <span>
      <Icon name="check" />
      All checked
    </span>
  );
}
