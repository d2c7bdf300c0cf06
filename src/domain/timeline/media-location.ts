/** Location of the source on the editor's machine. The server has only its name; the user supplies the folder. */

/** `url` is percent-encoded, for formats with URLs; `path` is a plain path. Both are relative without a folder. */
export type MediaLocation = { url: string; path: string };

const SCHEME = "file://";

/** Joins the folder (a path of any operating system, or a `file:` URL; null if unknown) and the file's name. */
export function createMediaLocation(root: string | null, name: string): MediaLocation {
  const file = name.toWellFormed();
  const folder = toPath(root ?? "").replace(/(?<!\/)\/+$/, (slashes, at) => (at === 0 && slashes ? "/" : ""));
  if (folder === "") return { url: encodeSegment(file), path: file };
  const path = folder.endsWith("/") ? folder + file : `${folder}/${file}`;
  return { url: toUrl(path), path };
}

/** Returns the folder of a path or `file:` URL with forward slashes. */
function toPath(root: string): string {
  const text = root.trim().toWellFormed();
  if (/^file:/i.test(text)) return parseFileUrl(text);
  const isWindows = /^[a-z]:([\\/]|$)/i.test(text) || text.startsWith("\\\\");
  return isWindows ? text.replaceAll("\\", "/") : text;
}

function parseFileUrl(url: string): string {
  const [prefix = "", host = ""] = /^file:(?:\/\/([^/]*))?/i.exec(url) ?? [];
  const path = decodePercent(url.slice(prefix.length));
  if (host !== "" && host.toLowerCase() !== "localhost") return `//${host}${path}`;
  return /^\/[a-z]:/i.test(path) ? path.slice(1) : path;
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function toUrl(path: string): string {
  const drive = /^[a-z]:/i.exec(path)?.[0];
  if (drive) return `${SCHEME}/${drive}${encodePath(path.slice(drive.length))}`;
  if (path.startsWith("//")) return `file:${encodePath(path)}`;
  return path.startsWith("/") ? SCHEME + encodePath(path) : encodePath(path);
}

const encodePath = (path: string) => path.split("/").map(encodeSegment).join("/");

/** Also encodes characters that `encodeURIComponent` leaves unchanged and some readers reject. */
const encodeSegment = (segment: string) =>
  encodeURIComponent(segment).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
