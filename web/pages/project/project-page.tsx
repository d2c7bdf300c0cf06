import { useComputed } from "@preact/signals";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type { LiveEventType } from "../../../src/domain/live-events";
import { api, must, type Schemas } from "../../app/api";
import { type List, useList, useRead } from "../../app/cache";
import { formatCount, formatDuration, formatMinutes } from "../../app/format";
import { listenLive } from "../../app/live";
import { invalidate } from "../../app/query-client";
import { canWrite, workspace } from "../../app/session";
import { useProject } from "../../app/shared-reads";
import { useQuery, withoutEmpty } from "../../app/use-query";
import { NotFoundPage, Page } from "../../ui/page";
import { LoadMore } from "../../ui/row-list";
import { Empty, ListSkeleton, ResourceView } from "../../ui/states";
import { finishedUploads } from "../../upload/queue";
import { Missing } from "../missing";
import { ProjectMenu } from "../projects/project-menu";
import { BatchBar } from "./batch-bar";
import { FILTER_CHECKS, type Filters, LibraryBar } from "./library-bar";
import { comparePlaces, isList, libraryView } from "./library-view";
import { createNearRows } from "./near-rows";
import type { Recording } from "./recording";
import { RecordingCards } from "./recording-card";
import { RecordingTable } from "./recording-table";
import { createSelection, useSelectionKeys } from "./selection";
import { UploadArea } from "./upload-area";

type Summary = Schemas["ProjectSummary"];

/** Shows a project. */
export default function ProjectPage() {
  const projectId = useRoute().params.projectId ?? "";
  return <OpenedProject key={projectId} projectId={projectId} />;
}

function OpenedProject({ projectId }: { projectId: string }) {
  const [filters, setFilters] = useQuery(FILTER_CHECKS);
  const project = useProject(projectId);
  // Read with the project, not after it.
  const recordings = useRecordings(projectId, filters);
  const notFound = (
    <Missing id={projectId}>
      <NotFoundPage />
    </Missing>
  );
  return (
    <ResourceView resource={project} notFound={notFound}>
      {(value) => (
        <Library
          project={value}
          recordings={recordings}
          filters={filters}
          onFilter={setFilters}
          onChange={() => void project.reload()}
        />
      )}
    </ResourceView>
  );
}

/** Number of recordings of a page that is shown as soon as it is there, and of one that is read in the background. */
const PAGE_SIZE = 60;
const MAX_PAGE_SIZE = 100;

/** The recordings of a project that match the filters, and its totals. */
function useRecordings(projectId: string, filters: Filters) {
  const { sort } = libraryView.value;
  const { q, cut, state, tag, by } = filters;
  const key = ["assets", projectId, workspace.value?.id, sort, filters];
  const read = (of: { cursor?: string; ids?: string; limit?: number }, signal?: AbortSignal) => {
    const chosen = withoutEmpty({ q, cut, state, tag, created_by: by }) as object;
    const query = { project_id: projectId, limit: PAGE_SIZE, sort, ...chosen, ...of };
    return must(api.GET("/api/v1/assets", { params: { query }, ...(signal && { signal }) }));
  };
  const near = useMemo(
    () =>
      createNearRows<Recording>({
        getList: () => list,
        readRows: async (ids) => (await read({ ids: ids.join(","), limit: ids.length })).items,
        readPage: (cursor) => read({ limit: MAX_PAGE_SIZE, ...(cursor !== null && { cursor }) }),
        compare: (one, other) => comparePlaces(one, other, sort),
      }),
    [JSON.stringify(key)],
  );
  useLayoutEffect(() => {
    // No event of a cut names its recording.
    const types: LiveEventType[] = cut === "" ? ["asset.updated"] : ["asset.updated", "cut.updated", "review.updated"];
    const stop = listenLive(types, ({ type, entityId }) => near.doubt(type === "asset.updated" ? entityId : null));
    return () => {
      stop();
      // Drops a list whose pending reads were canceled: it would be shown outdated on the next visit.
      if (near.stop()) queueMicrotask(() => invalidate(key));
    };
  }, [near]);
  const list: List<Recording> = useList(key, (cursor, signal) => read(cursor === null ? {} : { cursor }, signal), near);
  const summary = useRead<Summary>(["assets", projectId, workspace.value?.id, "summary"], (stop) => {
    const params = { path: { project_id: projectId } };
    return must(api.GET("/api/v1/projects/{project_id}/summary", { params, signal: stop }));
  });
  const reload = useCallback(async () => void (await Promise.all([list.reload(), summary.reload()])), [list, summary]);
  const uploaded = finishedUploads.value;
  const seen = useRef(uploaded);
  useEffect(() => {
    if (seen.current === uploaded) return;
    seen.current = uploaded;
    void reload();
  }, [uploaded, reload]);
  const total = summary.state.value;
  return { list, near, summary: total.kind === "ready" ? total.value : null, reload };
}

type LibraryProps = {
  project: Schemas["Project"];
  recordings: ReturnType<typeof useRecordings>;
  filters: Filters;
  onFilter(change: Partial<Filters>): void;
  onChange(): void;
};

/** A project: its recordings, and a drop area for new ones. */
function Library({ project, recordings, filters, onFilter, onChange }: LibraryProps) {
  const { route } = useLocation();
  const { list, near, summary, reload } = recordings;
  const latest = useRef<List<Recording>>(list);
  latest.current = list;
  const selection = useMemo(
    () => createSelection(() => (latest.current.items.peek() ?? []).map(({ id }) => id)),
    [project.id],
  );
  const hasSelection = useComputed(() => !selection.isEmpty.value).value;
  useSelectionKeys(selection, latest);
  // Recordings that another filter hides must not stay selected.
  useEffect(() => selection.clear(), [list, selection]);
  const items = list.items.value;
  const canUpload = canWrite.value && project.state === "active";
  const isFiltered = Object.values(filters).some((value) => value !== "");
  const hasItems = items !== null && items.length > 0;
  const shown = items?.length ?? 0;
  const total = isFiltered ? 0 : (summary?.recordings ?? 0);
  const count = !list.hasMore.value ? shown : total > shown ? total : -1;
  const isEmpty = items?.length === 0 && !isFiltered;
  const onRecordings = useCallback(() => void reload(), [reload]);
  return (
    <Page
      title={project.name}
      crumb={{ label: "Projects", href: "/projects" }}
      detail={summary !== null && summary.recordings > 0 && <Totals projectId={project.id} summary={summary} />}
      actions={
        <>
          {canUpload && !isEmpty && <UploadArea projectId={project.id} isLarge={false} />}
          <ProjectMenu project={project} onChange={onChange} onDeleted={() => route("/projects")} />
        </>
      }
    >
      {project.state === "archived" && <p class="message">This project is archived and accepts no new recordings.</p>}
      {canUpload && isEmpty && <UploadArea projectId={project.id} isLarge={true} />}
      {!isEmpty &&
        (hasSelection ? (
          <BatchBar selection={selection} list={list} near={near} onDone={onRecordings} />
        ) : (
          <LibraryBar summary={summary} filters={filters} onFilter={onFilter} />
        ))}
      {items === null && list.error.value === null && <ListSkeleton />}
      {hasItems && isList.value && (
        <RecordingTable list={list} selection={selection} onChange={onRecordings} onView={near.view} count={count} />
      )}
      {hasItems && !isList.value && (
        <RecordingCards items={items} selection={selection} onChange={onRecordings} onView={near.view} count={count} />
      )}
      {!(hasItems && isList.value) && <LoadMore list={list} />}
      {items?.length === 0 && isFiltered && <NothingFound filters={filters} onFilter={onFilter} />}
      {isEmpty && !canUpload && (
        <Empty title="No recordings yet" icon="projects" link={{ href: "/projects", label: "Show all projects" }} />
      )}
    </Page>
  );
}

/** Below this, the cuts have not made the recordings shorter. */
const MIN_SAVED_SECONDS = 1;

/** "12 recordings · 4:55:58 · 30 minutes shorter so far · 89 places to review" */
function Totals({ projectId, summary }: { projectId: string; summary: Summary }) {
  const { recordings, duration, cut_duration: cut, kept_duration: kept, open_marks: marks } = summary;
  const saved = cut - kept;
  return (
    <>
      {formatCount(recordings, "recording")} · {formatDuration(duration)}
      {saved >= MIN_SAVED_SECONDS && ` · ${describeSaved(saved)} shorter so far`}
      {marks > 0 && (
        <>
          {" · "}
          <a href={`/projects/${projectId}?cut=to_review`}>{formatCount(marks, "place")} to review</a>
        </>
      )}
    </>
  );
}

/** Returns "45 seconds", "1 min 40 s", "30 minutes" or "2:05:00". */
const describeSaved = (seconds: number): string => (seconds < 5_400 ? formatMinutes(seconds) : formatDuration(seconds));

function NothingFound({ filters, onFilter }: { filters: Filters; onFilter(change: Filters): void }) {
  const { q, cut } = filters;
  const isOnlyCut = Object.values(filters).filter(Boolean).length === 1 && cut !== "";
  const title = isOnlyCut
    ? cut === "none"
      ? "Every recording has a cut"
      : "Nothing to review"
    : q === ""
      ? "No recording matches these filters"
      : `No recording matches “${q}”`;
  return (
    <Empty title={title} icon={isOnlyCut ? "check" : "search"}>
      <button
        type="button"
        class="link-button"
        onClick={() => onFilter({ q: "", cut: "", state: "", tag: "", by: "" })}
      >
        Show all recordings
      </button>
    </Empty>
  );
}
