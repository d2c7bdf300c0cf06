/**
 * The dashboard: one page for all of its paths, and the files that it loads. The files have names that contain their
 * hash, so a browser keeps them; the page is validated on each load.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { Elysia } from "elysia";
import { FIRST_READS, OPEN_PATHS, PLAIN_PATHS, SHELL_PATHS } from "../../web/app/paths";
import { sha256 } from "../lib/hash";
import type { Services } from "../work/services";
import { readSessionCookie } from "./dashboard/cookies";
import { DASHBOARD_POLICY } from "./security-headers";

/** Below it are the files of the bundle. */
const FILES_PREFIX = "/app";

const INDEX = "index.html";

/** The page itself, and files that only the server reads. */
const INTERNAL_FILES = [INDEX, "pages.json"];

/**
 * Names of files of the bundle: those that every page loads, those loaded with a session, and additional ones of each
 * page by its path.
 */
type BundleIndex = {
  first: string;
  script: string;
  style: string;
  signedIn: string[];
  pages: Record<string, string[]>;
};

type Encoding = "br" | "gzip" | "identity";
type WebFile = { contentType: string; hash: string; encode(encoding: Encoding): Uint8Array<ArrayBuffer> };

const CONTENT_TYPES: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
  mp4: "video/mp4",
};

/** Makes the browser load the data that every page needs while it loads the script that requests it. */
const FIRST_READ_LINKS = FIRST_READS.map((url) => `<${url}>; rel=preload; as=fetch; crossorigin`);

const COMPRESS: Record<Encoding, (body: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>> = {
  identity: (body) => body,
  // 3% smaller than by zlib.
  gzip: (body) => Bun.gzipSync(body, { level: 12, library: "libdeflate" }),
  br: (body) => brotliCompressSync(body),
};

const readModifiedMs = (folder: string): number =>
  statSync(join(folder, INDEX), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/**
 * Reads the names of the files in `folder`. A file is compressed once per encoding, on the first request for it. Links
 * are hints for a path; without them a page loads later.
 */
function openBundle(folder: string) {
  const modifiedMs = readModifiedMs(folder);
  // Names are looked up here, and never built from request contents.
  const names = new Set(readdirSync(folder));
  const files = new Map<string, WebFile>();
  const load = (name: string): WebFile => {
    const known = files.get(name);
    if (known) return known;
    const body = readFileSync(join(folder, name));
    const extension = name.slice(name.lastIndexOf(".") + 1);
    const bodies: Partial<Record<Encoding, Uint8Array<ArrayBuffer>>> = {};
    const file: WebFile = {
      contentType: CONTENT_TYPES[extension] ?? "application/octet-stream",
      hash: sha256(body).slice(0, 32),
      // Brotli takes a hundred times as long as the answer, and browsers ask for it over HTTPS only.
      encode: (encoding) => {
        bodies[encoding] ??= COMPRESS[encoding](body);
        return bodies[encoding];
      },
    };
    files.set(name, file);
    return file;
  };
  const index = names.has("pages.json")
    ? (JSON.parse(readFileSync(join(folder, "pages.json"), "utf8")) as BundleIndex)
    : null;
  const toScriptLink = (name: string) => `<${FILES_PREFIX}/${name}>; rel=modulepreload`;
  const toStyleLink = (name: string) => `<${FILES_PREFIX}/${name}>; rel=preload; as=style`;
  const listLinks = (path: string): string[] => {
    if (index === null) return [];
    const first = `<${FILES_PREFIX}/${index.first}>; rel=preload; as=script`;
    // The order matters: over HTTP/1.1, a browser requests six at a time.
    const toLink = (name: string) => (name.endsWith(".css") ? toStyleLink(name) : toScriptLink(name));
    const pages = new Set([...index.signedIn, ...(index.pages[path] ?? [])].map(toLink));
    return [first, toScriptLink(index.script), toStyleLink(index.style), ...FIRST_READ_LINKS, ...pages];
  };
  return { modifiedMs, names, load, listLinks };
}

/** Creates the plugin. The bundle is opened again when its page has been replaced, as `bun run dev` does. */
export function createWebAppPlugin({ webDir, sessions }: Services) {
  let bundle = openBundle(webDir);
  const getCurrent = () => {
    // The file is missing while it is being replaced.
    if (![0, bundle.modifiedMs].includes(readModifiedMs(webDir))) bundle = openBundle(webDir);
    return bundle;
  };

  const plugin = new Elysia({ name: "web-app", strictPath: true });
  plugin.get(`${FILES_PREFIX}/:name`, ({ request, params: { name } }) =>
    bundle.names.has(name) && !INTERNAL_FILES.includes(name)
      ? respond(request, bundle.load(name), "public, max-age=31536000, immutable")
      : new Response(null, { status: 404 }),
  );
  const hasSession = async (request: Request): Promise<boolean> => {
    // The result only selects hints, so the cookie without the prefix counts too.
    const token = readSessionCookie(request, false);
    const found = token === null ? null : await sessions.verify(token).catch(() => null);
    if (found === null) return false;
    const { user } = found;
    return user.disabled_at === null && user.deleted_at === null;
  };
  const addPage = (path: string, needsSession: boolean) => {
    const show = async ({ request }: { request: Request }) => {
      // Without a session the sign-in page follows.
      const isShown = needsSession && (await hasSession(request));
      const { load, listLinks } = getCurrent();
      return respond(request, load(INDEX), "no-cache", isShown ? listLinks(path) : []);
    };
    plugin.get(path, show);
    // `APP_PATTERN` matches it too.
    if (path !== "/") plugin.get(`${path}/`, show);
  };
  for (const path of OPEN_PATHS) addPage(path, false);
  for (const path of [...PLAIN_PATHS, ...SHELL_PATHS]) addPage(path, true);
  return plugin;
}

function respond(request: Request, file: WebFile, cacheControl: string, links: string[] = []): Response {
  const encoding = chooseEncoding(request.headers.get("accept-encoding"));
  const headers: Record<string, string> = {
    "Content-Type": file.contentType,
    "Content-Security-Policy": DASHBOARD_POLICY,
    "Cache-Control": cacheControl,
    Vary: "Accept-Encoding",
    // A browser keeps the headers of an answer that it validates.
    ETag: `"${file.hash}${links.length === 0 ? "" : `-${links.length}`}"`,
  };
  if (links.length > 0) headers.Link = links.join(", ");
  if (request.headers.get("if-none-match")?.includes(headers.ETag!))
    return new Response(null, { status: 304, headers });
  if (encoding !== "identity") headers["Content-Encoding"] = encoding;
  return new Response(file.encode(encoding), { headers });
}

/** Maximum length of an `Accept-Encoding` header that is read. Browsers send 30 characters. */
const MAX_ACCEPTED_CHARACTERS = 1000;

/** Returns the smallest encoding that the client accepts. Browsers accept brotli over HTTPS only. */
function chooseEncoding(accepted: string | null): Encoding {
  if (accepted === null || accepted.length > MAX_ACCEPTED_CHARACTERS) return "identity";
  const names = accepted.split(",").flatMap((choice) => {
    const [name = "", ...parameters] = choice.split(";").map((part) => part.trim().toLowerCase());
    return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [name];
  });
  return names.includes("br") ? "br" : names.includes("gzip") ? "gzip" : "identity";
}
