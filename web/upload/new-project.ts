/** Uploads recordings to a project that is created for them. */
import { MAX_NAME_CHARACTERS } from "../../src/domain/field-limits";
import { api, must } from "../app/api";
import { formatCount } from "../app/format";
import { currentWorkspaceId } from "../app/session";
import { showFailure, showToast } from "../app/toasts";
import type { DroppedFiles } from "./dropped-files";
import { addUploads } from "./queue";
import { isNamedAsRecording } from "./recording-types";
import { type FileCheck, startCheck, takeRecordings } from "./take-recordings";

/**
 * Uploads the recordings among files to a new project, and opens it with `route`. Other files are refused with a
 * message.
 */
export async function uploadToNewProject({ count, files }: DroppedFiles, route: (path: string) => void): Promise<void> {
  const check = startCheck(count);
  try {
    const recordings = await takeRecordings(await files, check);
    if (recordings.length > 0) await createProjectFor(recordings, check, route);
  } catch (error) {
    if (!check.signal.aborted) throw error;
  } finally {
    check.end();
  }
}

/** Returns a project name: the name of the first recording. */
export function nameProjectFor(recordings: readonly File[]): string {
  const { name } = recordings.find(isNamedAsRecording) ?? recordings[0]!;
  return (
    name
      .replace(/\.[^.]*$/, "")
      .slice(0, MAX_NAME_CHARACTERS)
      .trim() || name
  );
}

/**
 * Creates a project, uploads the recordings to it, and opens it with `route`. If `route` is null, or the user has
 * switched to another workspace, offers a link.
 */
export async function createProjectFor(
  recordings: File[],
  check: FileCheck,
  route: ((path: string) => void) | null,
): Promise<void> {
  const { workspaceId, headers } = check;
  // From here on, the check cannot be canceled: a project could remain without recordings.
  check.end();
  try {
    const body = { name: nameProjectFor(recordings), cut_after_upload: {} };
    const project = await must(api.POST("/api/v1/projects", { body, headers }));
    addUploads(project.id, recordings, check);
    if (route !== null && workspaceId === currentWorkspaceId()) return route(`/projects/${project.id}`);
    showUploading(recordings, project);
  } catch (error) {
    showFailure(error);
  }
}

/** Shows a message with the project to which recordings are uploaded, if there are any. */
export function showUploading({ length }: readonly File[], { id, name }: { id: string; name: string }): void {
  if (length === 0) return;
  const text = `Uploading ${formatCount(length, "recording")} to “${name}”.`;
  showToast({ kind: "info", text, link: { label: "Open", href: `/projects/${id}` } });
}
