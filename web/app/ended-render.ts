/** Renders that have ended: the message about one, and its file. */

import { api, must } from "./api";
import { nameOf } from "./format";
import { isPermanent } from "./pipelines";
import { openDownload } from "./save-file";
import { canWrite, me, toWorkspaceHeader, type WorkspaceHeader, workspace } from "./session";
import { showFailure, showToast } from "./toasts";

/** Shows a message about a render that has ended, to the user who started it. Throws `ApiError`. */
export async function showEnd(renderId: string): Promise<void> {
  // The page may show another workspace when a button of the message is pressed.
  const headers = toWorkspaceHeader(workspace.peek()?.id ?? null);
  const isWriter = canWrite.peek();
  const render = await readRender(renderId, headers);
  if (render.created_by?.id !== me.peek()?.id) return;
  const params = { path: { asset_id: render.asset_id } };
  const name = `“${nameOf(await must(api.GET("/api/v1/assets/{asset_id}", { params, headers })))}”`;
  const href = `/assets/${render.asset_id}`;
  const link = location.pathname === href ? undefined : { label: "Open", href };
  if (render.state === "failed") {
    const text = `${name} was not rendered. ${render.error_message ?? ""}`;
    const again = { label: "Try again", run: () => void renderAgain(renderId, headers).catch(showFailure) };
    const canTryAgain = isWriter && !isPermanent(render.error_code);
    return showToast({ kind: "bad", text, link, action: canTryAgain ? again : undefined });
  }
  const format = render.output.format.toUpperCase();
  showToast({
    kind: "info",
    text: [`${name} is ready as ${format}.`, ...render.warnings].join(" "),
    action: { label: `Download ${format}`, run: () => void downloadRender(renderId, headers).catch(showFailure) },
    link,
  });
}

const readRender = (renderId: string, headers: WorkspaceHeader) =>
  must(api.GET("/api/v1/renders/{render_id}", { params: { path: { render_id: renderId } }, headers }));

/** Starts a render that failed once more, with the same cut, output and file name. Throws `ApiError`. */
export async function renderAgain(renderId: string, headers: WorkspaceHeader = {}): Promise<void> {
  const { asset_id, cut_id, output } = await readRender(renderId, headers);
  const sent = api.POST("/api/v1/renders", { body: { asset_id, cut_id, output }, headers });
  const { state } = await must(sent);
  const isNew = (await sent).response.status === 201;
  const existing = state === "completed" ? "This file is already rendered." : "This render is already running.";
  showToast({ kind: "info", text: isNew ? "The render was started again." : existing });
}

/** Downloads the file of a render with a new link, because links expire after 15 minutes. Throws `ApiError`. */
export async function downloadRender(renderId: string, headers: WorkspaceHeader = {}): Promise<void> {
  const { download_url: url, output } = await readRender(renderId, headers);
  if (url !== null) openDownload(url, `render.${output.format}`);
}
