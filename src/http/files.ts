/** Downloads through signed links, with ranges, validators and escaped file names. */
import type { LinkTarget } from "../blobs/signed-links";
import { AppError } from "../domain/errors";
import { getRenderFileName, toFileStem } from "../domain/file-names";
import { OUTPUT_CONTENT_TYPES } from "../domain/render-output";
import { findFile } from "../lib/file-size";
import { type Asset, findAssetById } from "../store/assets";
import { findCutById } from "../store/cuts";
import { findDataExportById } from "../store/data-exports";
import { findRenderById, type Render } from "../store/renders";
import { findUserById } from "../store/users";
import { isWorkspaceDisabled } from "../store/workspaces";
import { isDownloadable } from "../work/data-export/requests";
import type { Services } from "../work/services";
import { formatAttachment, toResponseTo } from "./call";
import { replyWithFile } from "./file-response";
import { formatTime } from "./schemas";
import { FILE_POLICY } from "./security-headers";
import { findLinkProblem, findSharedRender, isUnlocked } from "./shared-renders";
import { readSharedText } from "./shared-texts";

/** `text` replaces `path` for a file created from the database. `modifiedAt` is in milliseconds since 1970. */
type LinkedFile = { contentType: string; name: string } & ({ path: string } | { text: string; modifiedAt: number });

/**
 * Serves GET and HEAD of `/files/{kind}/{id}/{what}`. Throws `AppError` `not_found` if the link is invalid, has expired
 * or its file does not exist, `upstream_unavailable` while its folder is offline.
 */
export async function serveFile(services: Services, request: Request, target: LinkTarget): Promise<Response> {
  const problem = findLinkProblem(services, request, target);
  const found = problem === null ? await findLinkedFile(services, request, target) : null;
  const opened = found && (await openFile(services, found));
  if (!opened) {
    const cause = problem ?? (found ? "file_missing" : "resource_unavailable");
    throw new AppError("not_found", "Download link is invalid or has expired.", { cause });
  }

  const { file, modifiedAt } = opened;
  const reply = replyWithFile(request, {
    file,
    modifiedAt,
    etag: `"${target.id}-${target.what}-${file.size}-${Math.round(modifiedAt)}"`,
    headers: {
      "Cache-Control": "private, no-store",
      "Content-Disposition": formatAttachment(found.name),
      "Content-Type": found.contentType,
      "Content-Security-Policy": FILE_POLICY,
    },
  });
  return toResponseTo(request, reply);
}

/** Returns the content of a file, or null. Throws `AppError` `upstream_unavailable` while its folder is offline. */
async function openFile({ folders }: Services, found: LinkedFile): Promise<{ file: Blob; modifiedAt: number } | null> {
  if ("text" in found) return { file: new Blob([found.text]), modifiedAt: found.modifiedAt };
  const file = await folders.guard.readOnline(() => findFile(found.path));
  return file && { file, modifiedAt: file.lastModified };
}

async function findLinkedFile(services: Services, request: Request, target: LinkTarget): Promise<LinkedFile | null> {
  if (target.kind === "exports") return target.what === "archive" ? findExport(services, target.id) : null;
  if (target.kind === "renders" || target.kind === "shares") {
    if (target.what === "captions") return findCaptions(services, request, target);
    const render = target.what === "output" ? await findRender(services, request, target) : null;
    if (render === null) return null;
    const { format } = render.resolved;
    const asset = await findAssetById(services.store.read, render.asset_id);
    return {
      path: services.folders.renderOutput(render.id, format),
      contentType: OUTPUT_CONTENT_TYPES[format],
      name: getRenderFileName(render, asset?.filename),
    };
  }
  const asset = await findAssetById(services.store.read, target.id);
  if (!asset || (await isWorkspaceDisabled(services.store.read, asset.workspace_id))) return null;
  const folder = services.folders.media(asset.id);
  const named = toFileStem(asset.filename) ?? "asset";
  switch (target.what) {
    case "source":
      if (asset.cut_id !== null || asset.render_id !== null) return findOutputFile(services, asset);
      return {
        path: folder.source,
        contentType: asset.content_type ?? "application/octet-stream",
        name: asset.filename ?? `asset.${asset.extension ?? "bin"}`,
      };
    case "poster":
      return { path: folder.poster, contentType: "image/jpeg", name: `${named}.poster.jpg` };
    case "filmstrip":
      return { path: folder.filmstrip, contentType: "image/jpeg", name: `${named}.filmstrip.jpg` };
    case "preview":
      return {
        path: (await Bun.file(folder.preview).exists()) ? folder.preview : folder.oldPreview,
        contentType: "video/mp4",
        name: `${named}.preview.mp4`,
      };
    case "waveform":
      return { path: folder.waveform, contentType: "application/json", name: `${named}.waveform.json` };
    case "transcript":
      return { path: folder.transcript, contentType: "application/json", name: `${named}.transcript.json` };
    default:
      return null;
  }
}

/** Returns the captions of a shared render as WebVTT. Errors: those of `readSharedText`. */
async function findCaptions(services: Services, request: Request, target: LinkTarget): Promise<LinkedFile | null> {
  const render = target.kind === "shares" ? await findRender(services, request, target) : null;
  const text = render && (await readSharedText(services, render, "captions"));
  return text === null
    ? null
    : { text, modifiedAt: render!.created_at, contentType: "text/vtt; charset=utf-8", name: "captions.vtt" };
}

/**
 * Returns the completed render that a link shares, or null if the link does not work or the browser has not entered its
 * password.
 */
async function findRender(services: Services, request: Request, { kind, id }: LinkTarget): Promise<Render | null> {
  if (kind === "shares") {
    const found = await findSharedRender(services, id);
    return found && isUnlocked(services, request, found.share) ? found.render : null;
  }
  const { read } = services.store;
  const render = await findRenderById(read, id);
  return render?.state === "completed" && !(await isWorkspaceDisabled(read, render.workspace_id)) ? render : null;
}

/** Returns the file of a pipeline's output: that of its render, or the plan of its cut. */
async function findOutputFile({ folders, store }: Services, asset: Asset): Promise<LinkedFile | null> {
  const contentType = asset.content_type ?? "application/octet-stream";
  const name = asset.filename ?? `asset.${asset.extension ?? "bin"}`;
  if (asset.render_id !== null)
    return { path: folders.renderOutput(asset.render_id, asset.extension ?? ""), contentType, name };
  const cut = asset.cut_id === null ? null : await findCutById(store.read, asset.cut_id);
  return cut?.plan == null
    ? null
    : { text: cut.plan, modifiedAt: cut.completed_at ?? asset.created_at, contentType, name };
}

async function findExport(services: Services, id: string): Promise<LinkedFile | null> {
  const { store, folders, now } = services;
  const found = await findDataExportById(store.read, id);
  const user = found && isDownloadable(found, now()) ? await findUserById(store.read, found.user_id) : null;
  if (!found || !user || user.disabled_at !== null) return null;
  const day = formatTime(found.requested_at).slice(0, 10);
  return {
    path: folders.exportArchive(id),
    contentType: "application/zip",
    name: `offcut-export-${day}.zip`,
  };
}
