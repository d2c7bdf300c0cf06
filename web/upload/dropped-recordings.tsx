/** Adds dropped recordings to a project. Loaded when files are dropped. */
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { api, must } from "../app/api";
import { formatCount } from "../app/format";
import { showFailure } from "../app/toasts";
import { ChooseProject } from "../pages/projects/choose-project";
import { Button } from "../ui/button";
import { useAddUploads } from "./add-uploads";
import { createProjectFor, nameProjectFor, showUploading } from "./new-project";
import { takeRecordings } from "./take-recordings";

/** `path`: the page on which the files were dropped. */
type DroppedRecordingsProps = { files: File[]; path: string; onClose(): void };

/**
 * Adds the files to the project of the open recording. On other pages, the user chooses a project. A workspace without
 * projects gets one.
 */
export default function DroppedRecordings({ files, path, onClose }: DroppedRecordingsProps) {
  const { route } = useLocation();
  const [recordings, setRecordings] = useState<File[] | null>(null);
  const { add, question } = useAddUploads();
  const open = path.startsWith("/assets/") ? null : route;
  useEffect(() => {
    const take = async () => {
      const taken = await takeRecordings(files);
      if (taken.length === 0) return onClose();
      const project = open === null ? await findProjectOf(path.split("/")[2]!) : null;
      if (project !== null) {
        showUploading((await add(project.id, taken)) ?? [], project);
        return onClose();
      }
      const { items } = await must(api.GET("/api/v1/projects", { params: { query: { limit: 1 } } }));
      if (items.length > 0) return setRecordings(taken);
      onClose();
      await createProjectFor(taken, open);
    };
    take().catch((error: unknown) => {
      showFailure(error);
      onClose();
    });
  }, []);
  if (recordings === null) return <>{question}</>;
  return (
    <>
      <ChooseProject
        title={`Add ${formatCount(recordings.length, "recording")} to a project`}
        onChoose={async (project, signal) => {
          const added = await add(project.id, recordings, signal);
          if (added === null) return;
          if (open === null) showUploading(added, project);
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
            void createProjectFor(recordings, open);
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

/** Returns the project of a recording; null if nothing can be uploaded to it. */
async function findProjectOf(assetId: string): Promise<{ id: string; name: string } | null> {
  const { data: asset } = await api.GET("/api/v1/assets/{asset_id}", { params: { path: { asset_id: assetId } } });
  if (asset === undefined) return null;
  const params = { path: { project_id: asset.project_id } };
  const { data: project } = await api.GET("/api/v1/projects/{project_id}", { params });
  return project?.state === "active" ? project : null;
}
