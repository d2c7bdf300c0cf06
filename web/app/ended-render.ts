/** Renders that have ended: the message about one, and its file. */
import { api, must } from "./api";
import { isPermanent } from "./pipelines";
import { openDownload } from "./save-file";
import { session } from "./session";
import { showFailure, showToast } from "./toasts";
import { toLocalAddress } from "./use-query";

/** Shows a message about a render that has ended, to the user who started it. Throws `ApiError`. */
export async function showEnd(renderId: string): Promise<void> {
  const render = await readRender(renderId);
  const { value } = session;
  if (value.kind !== "signed-in" || render.created_by?.id !== value.me.id) return;
  const params = { path: { asset_id: render.asset_id } };
  const { filename } = await must(api.GET("/api/v1/assets/{asset_id}", { params }));
  const name = filename === null ? "Your recording" : `“${filename}”`;
  const href = `/assets/${render.asset_id}`;
  const link = location.pathname === href ? undefined : { label: "Open", href };
  if (render.state === "failed") {
    const text = `${name} was not rendered. ${render.error_message ?? ""}`;
    const again = { label: "Try again", run: () => void renderAgain(renderId).catch(showFailure) };
    return showToast({ kind: "bad", text, link, action: isPermanent(render.error_code) ? undefined : again });
  }
  const format = render.output.format.toUpperCase();
  showToast({
    kind: "info",
    text: [`${name} is ready as ${format}.`, ...render.warnings].join(" "),
    action: { label: `Download ${format}`, run: () => void downloadRender(renderId).catch(showFailure) },
    link,
  });
}

const readRender = (renderId: string) =>
  must(api.GET("/api/v1/renders/{render_id}", { params: { path: { render_id: renderId } } }));

/** Starts a render that failed once more, with the same cut, output and file name. Throws `ApiError`. */
export async function renderAgain(renderId: string): Promise<void> {
  const { asset_id, cut_id, output } = await readRender(renderId);
  await must(api.POST("/api/v1/renders", { body: { asset_id, cut_id, output } }));
  showToast({ kind: "info", text: "The render was started again." });
}

/** Downloads the file of a render with a new link, because links expire after 15 minutes. Throws `ApiError`. */
export async function downloadRender(renderId: string): Promise<void> {
  const { download_url: url, output } = await readRender(renderId);
  if (url !== null) openDownload(toLocalAddress(url), `render.${output.format}`);
}
