import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { ApiError, api, must, type Schemas } from "../../app/api";
import { useList, useRead } from "../../app/cache";
import { formatCount } from "../../app/format";
import { canWrite, isBilled, workspace } from "../../app/session";
import { showFailure } from "../../app/toasts";
import { MAX_SEARCH_LENGTH } from "../../app/use-query";
import { Button } from "../../ui/button";
import { ConfirmDialog, Dialog } from "../../ui/dialog";
import { Icon } from "../../ui/icon";
import { Page } from "../../ui/page";
import { LoadMore } from "../../ui/row-list";
import { Empty, ErrorPanel, ListSkeleton } from "../../ui/states";
import { readDroppedFiles } from "../../upload/dropped-files";
import { describeLimits, keepWithinLimits, useUploadLimits } from "../../upload/limits";
import { RECORDING_TYPES } from "../../upload/new-project";
import { addUploads, finishedUploads } from "../../upload/queue";
import { takeScripts } from "../../upload/scripts";
import { UploadPanel } from "../../upload/upload-panel";
import { Missing } from "../missing";
import NotFoundPage from "../not-found";
import { ProjectMenu } from "../projects/project-menu";
import { AssetList } from "./asset-list";

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

type AssetSort = "created_at" | "-created_at" | "name" | "-name" | "duration_seconds" | "-duration_seconds";

const SORTS: { value: AssetSort; label: string }[] = [
  { value: "-created_at", label: "Newest first" },
  { value: "created_at", label: "Oldest first" },
  { value: "name", label: "Name, A to Z" },
  { value: "-name", label: "Name, Z to A" },
  { value: "-duration_seconds", label: "Longest first" },
  { value: "duration_seconds", label: "Shortest first" },
];

type AssetToolbarProps = {
  text: string;
  sort: AssetSort;
  selection: Signal<ReadonlySet<string>>;
  onText(text: string): void;
  onSort(sort: AssetSort): void;
  onDeleted(): void;
};

/** Deletes a recording. Succeeds if somebody else has already deleted it. */
async function deleteAsset(id: string): Promise<void> {
  try {
    await must(api.DELETE("/api/v1/assets/{asset_id}", { params: { path: { asset_id: id } } }));
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}

/** Search, sort order, and actions for the selected recordings. */
function AssetToolbar({ text, sort, selection, onText, onSort, onDeleted }: AssetToolbarProps) {
  const [isDeleting, setIsDeleting] = useState(false);
  const selected = [...selection.value];
  return (
    <div class="toolbar">
      <input
        class="input search"
        type="search"
        maxLength={MAX_SEARCH_LENGTH}
        aria-label="Search recordings"
        placeholder="Search"
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <select
        class="input sort"
        aria-label="Sort by"
        value={sort}
        onChange={(event) => onSort(event.currentTarget.value as AssetSort)}
      >
        {SORTS.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <span class="spacer" />
      {selected.length > 0 && canWrite.value && (
        <>
          <span class="soft">{formatCount(selected.length, "recording")} selected</span>
          <Button look="quiet" onClick={() => (selection.value = new Set())}>
            Clear
          </Button>
          <Button icon="trash" look="danger" onClick={() => setIsDeleting(true)}>
            Delete
          </Button>
        </>
      )}
      {isDeleting && (
        <ConfirmDialog
          title={`Delete ${formatCount(selected.length, "recording")}?`}
          confirmLabel="Delete"
          onConfirm={async () => {
            for (const id of selected) {
              await deleteAsset(id);
              selection.value = new Set([...selection.value].filter((one) => one !== id));
            }
            onDeleted();
          }}
          onClose={() => setIsDeleting(false)}
        >
          <p>
            Their files, cuts and renders are deleted from the server's disk.
            {isBilled.value && " Credits that were spent are not refunded."} This cannot be undone.
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}

/** Accepts files that are dropped anywhere on the page or chosen in a dialog. Asks before a file is uploaded again. */
function UploadArea({ projectId, isLarge }: { projectId: string; isLarge: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  const limits = useUploadLimits().state.value;
  const [isOver, setIsOver] = useState(false);
  const [question, setQuestion] = useState<{ files: File[]; known: string[] } | null>(null);

  async function take(dropped: File[]): Promise<void> {
    if (dropped.length === 0) return;
    try {
      const files = await keepWithinLimits(takeScripts(dropped));
      const known = await findDuplicates(projectId, files);
      if (known.length > 0) setQuestion({ files, known });
      else addUploads(projectId, files);
    } catch (error) {
      showFailure(error);
    }
  }

  useEffect(() => {
    const onDrag = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setIsOver(event.type === "dragover");
    };
    const onDrop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      setIsOver(false);
      void readDroppedFiles(event.dataTransfer).then(take);
    };
    document.addEventListener("dragover", onDrag);
    document.addEventListener("dragleave", onDrag);
    document.addEventListener("drop", onDrop);
    return () => {
      document.removeEventListener("dragover", onDrag);
      document.removeEventListener("dragleave", onDrag);
      document.removeEventListener("drop", onDrop);
    };
  }, [projectId]);

  return (
    <div class={`upload-area ${isLarge ? "large" : ""} ${isOver ? "over" : ""}`}>
      <Icon name="upload" />
      <p>{isLarge ? "Drop a recording here" : "Drop recordings anywhere on this page"}</p>
      {limits.kind === "ready" && isLarge && <span class="soft">{describeLimits(limits.value)}</span>}
      <Button onClick={() => input.current?.click()}>Choose files</Button>
      <input
        ref={input}
        class="visually-hidden"
        type="file"
        multiple
        aria-label="Upload files"
        accept={RECORDING_TYPES}
        onChange={(event) => {
          void take([...(event.currentTarget.files ?? [])]);
          // Clearing the value lets the user choose the same file again.
          event.currentTarget.value = "";
        }}
      />
      {question && (
        <Dialog title="Upload again?" onClose={() => setQuestion(null)}>
          <div class="dialog-body">
            <p>
              {question.known.length === 1
                ? `The project already has a recording with this name and size: ${question.known[0]}.`
                : `The project already has ${formatCount(question.known.length, "recording")} with these names and sizes: ${question.known.slice(0, 5).join(", ")}.`}
            </p>
          </div>
          <div class="dialog-foot">
            <Button
              onClick={() => {
                addUploads(
                  projectId,
                  question.files.filter(({ name }) => !question.known.includes(name)),
                );
                setQuestion(null);
              }}
            >
              Skip
            </Button>
            <Button
              look="primary"
              onClick={() => {
                addUploads(projectId, question.files);
                setQuestion(null);
              }}
            >
              Upload again
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  );
}

/** Returns the names of the files with the same name and size as a recording in the project. */
export async function findDuplicates(projectId: string, files: File[]): Promise<string[]> {
  const found = await Promise.all(
    files.map(async ({ name, size }) => {
      const query = { project_id: projectId, q: name.slice(0, 256), limit: 100 };
      const { items } = await must(api.GET("/api/v1/assets", { params: { query } }));
      return items.some((asset) => asset.filename === name && asset.size_bytes === size) ? [name] : [];
    }),
  );
  return found.flat();
}
