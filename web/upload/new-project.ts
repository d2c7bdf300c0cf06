/** Uploads files that belong to no project yet. */
import { MAX_NAME_CHARACTERS } from "../../src/domain/field-limits";
import { api, must } from "../app/api";
import { formatCount } from "../app/format";
import { showFailure, showToast } from "../app/toasts";
import { addUploads } from "./queue";
import { isNamedAsRecording } from "./recording-types";
import { takeRecordings } from "./take-recordings";

/**
 * Creates a project named after the first recording among the files, uploads all recordings to it, and opens it with
 * `route`, or offers to. Other files are refused with a message.
 */
export async function uploadToNewProject(files: File[], route: ((path: string) => void) | null): Promise<void> {
  const recordings = await takeRecordings(files);
  const first = recordings.find(isNamedAsRecording) ?? recordings[0];
  if (first === undefined) return;
  const name =
    first.name
      .replace(/\.[^.]*$/, "")
      .slice(0, MAX_NAME_CHARACTERS)
      .trim() || first.name;
  try {
    const project = await must(api.POST("/api/v1/projects", { body: { name, cut_after_upload: {} } }));
    addUploads(project.id, recordings);
    const href = `/projects/${project.id}`;
    if (route !== null) return route(href);
    const text = `${formatCount(recordings.length, "recording")} uploading to the new project “${project.name}”.`;
    showToast({ kind: "info", text, link: { label: "Open", href } });
  } catch (error) {
    showFailure(error);
  }
}
