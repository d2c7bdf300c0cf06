/** Adds dropped recordings to a project. Loaded when files are dropped. */
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { api, must } from "../app/api";
import { formatCount } from "../app/format";
import { currentWorkspaceId, findWorkspaceName, type WorkspaceHeader } from "../app/session";
import { showFailure } from "../app/toasts";
import { ChooseProject } from "../pages/projects/choose-project";
import { Button } from "../ui/button";
import { useAddUploads } from "./add-uploads";
import type { DroppedFiles } from "./dropped-files";
import { createProjectFor, nameProjectFor, showUploading } from "./new-project";
import { type FileCheck, takeRecordings } from "./take-recordings";

/** `path`: the page on which the files were dropped; `check` has begun with the drop. */
export type Drop = { dropped: DroppedFiles; path: string; check: FileCheck };

type DroppedRecordingsProps = Drop & { onClose(): void };

/**
 * Adds the files to the project of the open recording. On other pages, the user chooses a project. A workspace without
 * projects gets one.
 */
export default function DroppedRecordings({ dropped, path, check, onClose }: DroppedRecordingsProps) {
  const { route } = useLocation();
  const [recordings, setRecordings] = useState<File[] | null>(null);
  const { add, question } = useAddUploads();
  const open = path.startsWith("/assets/") ? null : route;
  const { workspaceId, headers } = check;
  const isElsewhere = workspaceId !== currentWorkspaceId();
  // Null if the user has left the workspace.
  const elsewhere = isElsewhere ? findWorkspaceName(headers["Offcut-Workspace"] ?? null) : null;
  useEffect(() => {
    const { signal } = check;
    // The user may cancel before the files are read.
    signal.addEventListener("abort", onClose);
    const take = async () => {
      const taken = await takeRecordings(await dropped.files, check);
      if (taken.length === 0) return onClose();
      const project = open === null ? await findProjectOf(path.split("/")[2]!, { headers, signal }) : null;
      if (project !== null) {
        showUploading((await add(project.id, taken, check)) ?? [], project);
        return onClose();
      }
      const params = { query: { limit: 1 } };
      const { items } = await must(api.GET("/api/v1/projects", { params, headers, signal }));
      signal.throwIfAborted();
      if (items.length > 0) {
        check.end();
        return setRecordings(taken);
      }
      onClose();
      await createProjectFor(taken, check, open);
    };
    take()
      .catch((error: unknown) => {
        if (!signal.aborted) showFailure(error);
        onClose();
      })
      .finally(() => check.end());
  }, []);
  if (recordings === null) return <>{question}</>;
  return (
    <>
      <ChooseProject
        title={`Add ${formatCount(recordings.length, "recording")} to a project${elsewhere === null ? "" : ` in ${elsewhere}`}`}
        inWorkspace={headers}
        onChoose={async (project, signal) => {
          const added = await add(project.id, recordings, { ...check, signal });
          if (added === null) return;
          if (open === null || isElsewhere) showUploading(added, project);
          else open(`/projects/${project.id}`);
        }}
        onClose={onClose}
      >
        <Button
          icon="plus"
          look="primary"
          data-first
          onClick={() => {
            onClose();
            void createProjectFor(recordings, check, open);
          }}
        >
          <span class="truncate" dir="auto">
            New project “{nameProjectFor(recordings)}”
          </span>
        </Button>
      </ChooseProject>
      {question}
    </>
  );
}

type ProjectCall = { headers: WorkspaceHeader; signal: AbortSignal };

/** Returns the project of a recording; null if nothing can be uploaded to it. */
async function findProjectOf(assetId: string, call: ProjectCall): Promise<{ id: string; name: string } | null> {
  const path = { asset_id: assetId };
  const { data: asset } = await api.GET("/api/v1/assets/{asset_id}", { params: { path }, ...call });
  if (asset === undefined) return null;
  const params = { path: { project_id: asset.project_id } };
  const { data: project } = await api.GET("/api/v1/projects/{project_id}", { params, ...call });
  return project?.state === "active" ? project : null;
}
