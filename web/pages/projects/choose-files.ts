/** The choice of files for a new project, which is loaded when it is first opened. */
import { showFailure } from "../../app/toasts";
import { RECORDING_TYPES } from "../../upload/recording-types";

type Route = (path: string) => void;

export async function uploadFiles(files: File[], route: Route): Promise<void> {
  try {
    const { uploadToNewProject } = await import("../../upload/new-project");
    await uploadToNewProject(files, route);
  } catch (error) {
    showFailure(error);
  }
}

/** Opens the choice of files, whose recordings are uploaded to a new project. */
export function chooseFiles(route: Route): void {
  const input = document.createElement("input");
  Object.assign(input, { type: "file", multiple: true, accept: RECORDING_TYPES });
  input.addEventListener("change", () => void uploadFiles([...(input.files ?? [])], route));
  input.click();
}
