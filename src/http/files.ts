/** Downloads through signed links, with ranges, validators and escaped file names. */

import type { LinkTarget } from "../blobs/signed-links";
import { AppError } from "../domain/errors";
import { parseRange } from "../lib/http-range";
import { getAsset } from "../store/assets";
import { getRender } from "../store/renders";
import { isWorkspaceDisabled } from "../store/workspaces";
import type { Services } from "../work/services";
import { formatAttachment } from "./content-disposition";
import { FILE_POLICY } from "./security-headers";

type LinkedFile = { path: string; contentType: string; name: string };

type FileServices = Pick<Services, "folders" | "links" | "now" | "store">;

/** Serves GET and HEAD of `/files/{kind}/{id}/{what}`. Throws `AppError` `not_found` if the link is invalid, has expired or its file does not exist. */
export async function serveFile(services: FileServices, request: Request, target: LinkTarget): Promise<Response> {
  const { searchParams } = new URL(request.url);
  const isValid = services.links.verify(
    target,
    searchParams.get("expires"),
    searchParams.get("signature"),
    services.now(),
  );
  const found = isValid ? await findLinkedFile(services, target) : null;
  const file = found ? Bun.file(found.path) : null;
  if (!found || !file || !(await file.exists()))
    throw new AppError("not_found", "Download link is invalid or has expired.");

  const { size } = file;
  const etag = `"${target.id}-${target.what}-${size}-${Math.round(file.lastModified)}"`;
  const headers = new Headers({
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-store",
    "Content-Disposition": formatAttachment(found.name),
    "Content-Type": found.contentType,
    "Last-Modified": new Date(file.lastModified).toUTCString(),
    "Content-Security-Policy": FILE_POLICY,
    ETag: etag,
  });
  if (matchesEtag(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  const condition = request.headers.get("if-range");
  const isSame = condition === null || condition === etag || condition === headers.get("Last-Modified");
  const range = isSame ? parseRange(request.headers.get("range"), size) : null;
  if (range === "unsatisfiable") {
    headers.set("Content-Range", `bytes */${size}`);
    return new Response(null, { status: 416, headers });
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  headers.set("Content-Length", String(end - start + 1));
  if (range) headers.set("Content-Range", `bytes ${start}-${end}/${size}`);
  // For HEAD, Bun sends the length of this body without the body.
  const body = range ? file.slice(start, end + 1) : file;
  return new Response(body, { status: range ? 206 : 200, headers });
}

/** Returns whether an `If-None-Match` header contains this ETag. */
const matchesEtag = (header: string | null, etag: string): boolean =>
  (header ?? "").split(",").some((one) => ["*", etag].includes(one.trim().replace(/^W\//, "")));

const OUTPUT_TYPES: Record<string, string> = {
  mp4: "video/mp4",
  mov: "video/quicktime",
  m4a: "audio/mp4",
  mp3: "audio/mpeg",
};

async function findLinkedFile(
  services: Pick<Services, "folders" | "store">,
  target: LinkTarget,
): Promise<LinkedFile | null> {
  if (target.kind === "renders") {
    const render = target.what === "output" ? await getRender(services.store.read, target.id) : null;
    if (render?.state !== "completed" || (await isWorkspaceDisabled(services.store.read, render.workspace_id)))
      return null;
    const { format } = render.resolved;
    const asset = await getAsset(services.store.read, render.asset_id);
    return {
      path: services.folders.renderOutput(render.id, format),
      contentType: OUTPUT_TYPES[format] ?? "application/octet-stream",
      name: `${fileStem(asset?.filename) ?? "render"}${render.cut_id ? ".cut" : ""}.${format}`,
    };
  }
  const asset = await getAsset(services.store.read, target.id);
  if (!asset || (await isWorkspaceDisabled(services.store.read, asset.workspace_id))) return null;
  const folder = services.folders.media(asset.id);
  const named = fileStem(asset.filename) ?? "asset";
  switch (target.what) {
    case "source":
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
      return { path: folder.preview, contentType: "video/mp4", name: `${named}.preview.mp4` };
    case "waveform":
      return { path: folder.waveform, contentType: "application/json", name: `${named}.waveform.json` };
    case "transcript":
      return { path: folder.transcript, contentType: "application/json", name: `${named}.transcript.json` };
    default:
      return null;
  }
}

const fileStem = (filename: string | null | undefined): string | null => filename?.replace(/\.[^.]*$/, "") || null;
