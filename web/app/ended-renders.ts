/** Shows a message on any page when a render that the user started has completed or failed. */
import { api, must } from "./api";
import { listenLive } from "./live";
import { toLocalAddress } from "./local-address";
import { openDownload } from "./save-file";
import { session } from "./session";
import { showFailure, showToast } from "./toasts";

/** Shows a message for each render that ends. Call it once. */
export function watchEndedRenders(): () => void {
  /** Events of the same state may repeat. */
  const shown = new Set<string>();
  return listenLive(["render.updated"], ({ entityId, state }) => {
    if (entityId === null || (state !== "completed" && state !== "failed") || shown.has(entityId)) return;
    shown.add(entityId);
    // The render may have been deleted meanwhile.
    void showEnd(entityId).catch(() => {});
  });
}

async function showEnd(renderId: string): Promise<void> {
  const render = await readRender(renderId);
  const { value } = session;
  if (value.kind !== "signed-in" || render.created_by?.id !== value.me.id) return;
  const params = { path: { asset_id: render.asset_id } };
  const { filename } = await must(api.GET("/api/v1/assets/{asset_id}", { params }));
  const name = filename === null ? "Your recording" : `“${filename}”`;
  const href = `/assets/${render.asset_id}`;
  const link = location.pathname === href ? undefined : { label: "Open", href };
  if (render.state === "failed")
    return showToast({ kind: "bad", text: `${name} was not rendered. ${render.error_message ?? ""}`, link });
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

/** Downloads the file of a render with a new link, because links expire after 15 minutes. Throws `ApiError`. */
export async function downloadRender(renderId: string): Promise<void> {
  const { download_url: url, output } = await readRender(renderId);
  if (url !== null) openDownload(toLocalAddress(url), `render.${output.format}`);
}
