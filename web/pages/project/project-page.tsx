import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { ApiError, api, must, type Schemas } from "../../app/api";
import { useList, useRead } from "../../app/cache";
import { canWrite, workspace } from "../../app/session";
import { LoadMore } from "../../ui/load-more";
import { Page } from "../../ui/page";
import { Empty, ErrorPanel, ListSkeleton } from "../../ui/states";
import { finishedUploads } from "../../upload/queue";
import { UploadPanel } from "../../upload/upload-panel";
import { Missing } from "../missing";
import NotFoundPage from "../not-found";
import { ProjectMenu } from "../projects/project-menu";
import { AssetList } from "./asset-list";
import { type AssetSort, AssetToolbar } from "./asset-toolbar";
import { UploadArea } from "./upload-area";

type Asset = Schemas["AssetDetail"];

const PAGE_SIZE = 100;

/** Shows a project: its recordings, and a drop area for new ones. */
export default function ProjectPage() {
  const projectId = useRoute().params.projectId ?? "";
  const { route } = useLocation();
  const params = { path: { project_id: projectId } };
  const project = useRead(["project", projectId, workspace.value?.id], (stop) =>
    must(api.GET("/api/v1/projects/{project_id}", { params, signal: stop })),
  );
  const [text, setText] = useState("");
  const [sort, setSort] = useState<AssetSort>("-created_at");
  const selection = useMemo(() => signal<ReadonlySet<string>>(new Set()), [projectId]);
  const list = useList<Asset>(["assets", projectId, workspace.value?.id, text, sort], (cursor, stop) => {
    const query = {
      project_id: projectId,
      limit: PAGE_SIZE,
      sort,
      ...(cursor && { cursor }),
      ...(text && { q: text }),
    };
    return must(api.GET("/api/v1/assets", { params: { query }, signal: stop }));
  });
  const uploaded = finishedUploads.value;
  const seen = useRef(uploaded);
  useEffect(() => {
    if (seen.current === uploaded) return;
    seen.current = uploaded;
    void list.reload();
  }, [uploaded, list]);

  const state = project.state.value;
  if (state.kind === "loading") return <ListSkeleton />;
  if (state.kind === "failed") {
    const isMissing = state.error instanceof ApiError && (state.error.status === 404 || state.error.status === 422);
    if (!isMissing) return <ErrorPanel message={state.message} onRetry={() => void project.reload()} />;
    return (
      <Missing id={projectId}>
        <NotFoundPage />
      </Missing>
    );
  }
  const items = list.items.value;
  const { value } = state;
  const canUpload = canWrite.value && value.state === "active";
  return (
    <Page
      title={value.name}
      actions={
        canWrite.value && (
          <ProjectMenu project={value} onChange={() => void project.reload()} onDeleted={() => route("/projects")} />
        )
      }
    >
      {value.state === "archived" && <p class="message">This project is archived and accepts no new recordings.</p>}
      {canUpload && <UploadArea projectId={projectId} isLarge={items?.length === 0 && text === ""} />}
      <UploadPanel projectId={projectId} />
      {(items === null || items.length > 0 || text !== "") && (
        <AssetToolbar
          text={text}
          sort={sort}
          selection={selection}
          onText={setText}
          onSort={setSort}
          onDeleted={() => void list.reload()}
        />
      )}
      {items === null && list.error.value === null && <ListSkeleton />}
      {items !== null && items.length > 0 && <AssetList items={items} selection={selection} onChange={list.reload} />}
      {items?.length === 0 && text !== "" && <Empty title={`No recording matches “${text}”`} icon="search" />}
      {items?.length === 0 && text === "" && !canUpload && <Empty title="No recordings yet" icon="projects" />}
      <LoadMore list={list} />
    </Page>
  );
}
