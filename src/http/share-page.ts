/**
 * The page of a share link, for people without an account: a player, a download and, before them, the question for the
 * password.
 */
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import style from "../../web/share.css" with { type: "text" };
import { formatBytes } from "../domain/bytes";
import { AppError } from "../domain/errors";
import { MAX_SHARE_PASSWORD_CHARACTERS } from "../domain/field-limits";
import { toFileStem } from "../domain/file-names";
import { strictObject } from "../domain/schema-parts";
import { findAssetById } from "../store/assets";
import { findRenderShareById } from "../store/render-shares";
import type { Services } from "../work/services";
import { toResponse } from "./call";
import type { RequestClient } from "./client";
import { escapeHtml, formatPage, toPageResponse } from "./pages";
import { parseForm, readBodyText } from "./parse-request";
import { SHARE_POLICY } from "./security-headers";
import { findLinkProblem, findSharedRender, formatShareCookie, isUnlocked, type SharedRender } from "./shared-renders";

const STYLE_PATH = "/share.css";
const MAX_FORM_BYTES = 4_096;
/** Longer lists of languages are read up to here. */
const MAX_LANGUAGES_CHARACTERS = 200;

export const createSharePagePlugin = () =>
  new Elysia({ name: "share-page", strictPath: true }).get(STYLE_PATH, () => toPageResponse("css", style));

/**
 * Serves GET and HEAD of the page of a link, and POST with its password. A link that is invalid, has expired or was
 * revoked returns the same page, so that it does not reveal which links exist.
 */
export async function serveSharePage(
  services: Services,
  request: Request,
  shareId: string,
  { client }: { client: RequestClient },
): Promise<Response> {
  const problem = findLinkProblem(services, request, { kind: "shares", id: shareId, what: "page" });
  const found = problem === null ? await findSharedRender(services, shareId) : null;
  if (found === null) return showBrokenLink();
  if (isUnlocked(services, request, found.share))
    return request.method === "POST" ? reload(request) : showPlayer(services, found, findLanguage(request));
  if (request.method !== "POST") return showQuestion(200, null);
  try {
    return await unlock(services, request, found, client);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { retryAfterSeconds = 1 } = error.details;
    if (error.code !== "rate_limited" && error.code !== "upstream_unavailable")
      return showQuestion(400, "The password could not be read. Try again.");
    const minutes = Math.ceil(retryAfterSeconds / 60);
    const response =
      error.code === "rate_limited"
        ? showQuestion(429, `Too many attempts. Try again in ${minutes} ${minutes === 1 ? "minute" : "minutes"}.`)
        : showQuestion(503, "The server is busy. Try again in a moment.");
    response.headers.set("Retry-After", String(retryAfterSeconds));
    return response;
  }
}

const form = strictObject({ password: Type.String() });

/**
 * Checks the password in the form. Returns the response with the cookie, or the question again. Errors: `rate_limited`,
 * `upstream_unavailable`, those of the body.
 */
async function unlock(
  services: Services,
  request: Request,
  { share }: SharedRender,
  { address, isSecure }: RequestClient,
): Promise<Response> {
  const { config, passwords, signInLimits, store } = services;
  const limits = { type: "form", maxBytes: MAX_FORM_BYTES, timeoutMs: config.requestTimeoutSeconds * 1000 } as const;
  const { password } = parseForm(form, await readBodyText(request, limits));
  // Account addresses contain no spaces, so this key collides with none.
  const attempt = { account: `share ${share.id}`, address };
  signInLimits.check(attempt);
  let hash: string | null = null;
  const isRight = await passwords.verify(
    address ?? "unknown",
    password.slice(0, MAX_SHARE_PASSWORD_CHARACTERS + 1),
    async () => {
      // Attempts that waited meanwhile count, too.
      signInLimits.check(attempt);
      hash = (await findRenderShareById(store.read, share.id))?.password_hash ?? null;
      return hash;
    },
  );
  if (!isRight || hash === null) {
    signInLimits.recordFailure(attempt);
    return showQuestion(403, "Wrong password. Try again.");
  }
  signInLimits.recordSuccess(attempt);
  const response = reload(request);
  response.headers.append("Set-Cookie", formatShareCookie(services, share, hash, isSecure));
  return response;
}

/** Returns the redirect to the page, so that reloading it sends no form again. */
const reload = ({ url }: Request): Response =>
  toResponse({ status: 303, headers: { Location: `page${new URL(url).search}` } });

/** Returns the first language of `Accept-Language` that the server has formats for, such as `de-AT`; else `en-US`. */
function findLanguage({ headers }: Request): string {
  const ranges = (headers.get("Accept-Language") ?? "").slice(0, MAX_LANGUAGES_CHARACTERS).split(",");
  const weighted = ranges.map((range) => {
    const [tag = "", quality] = range.split(/;\s*q=/);
    return { tag: tag.trim(), weight: quality === undefined ? 1 : Number(quality) || 0 };
  });
  const byWeight = weighted.filter(({ weight }) => weight > 0).sort((a, b) => b.weight - a.weight);
  return byWeight.map(({ tag }) => tag).find(isLanguage) ?? "en-US";
}

function isLanguage(tag: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(tag).length > 0;
  } catch {
    // Not a well-formed tag.
    return false;
  }
}

/** Shows the player. `language`: that of the date and the size; the texts are English. */
async function showPlayer(services: Services, { share, render }: SharedRender, language: string): Promise<Response> {
  const asset = await findAssetById(services.store.read, render.asset_id);
  const name = asset?.name ?? toFileStem(asset?.filename) ?? "Recording";
  // Relative, so that the browser stays on the host from which it loaded the page.
  const file = `output${new URL(services.links.signShare(share.id, share.expires_at)).search}`;
  const source = escapeHtml(file);
  const isAudio = render.resolved.format === "m4a" || render.resolved.format === "mp3";
  const player = isAudio
    ? `<audio controls preload="metadata" aria-label="Player" src="${source}"></audio>`
    : `<video controls playsinline preload="metadata" aria-label="Player" src="${source}"></video>`;
  const until = new Date(share.expires_at);
  const time = until.toLocaleString(language, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
  const size =
    render.size_bytes === null ? "" : `${formatBytes(render.size_bytes, (value) => value.toLocaleString(language))} · `;
  return showPage(
    200,
    name,
    `<h1 dir="auto">${escapeHtml(name)}</h1>
      <p class="soft">${size}Available until <time datetime="${until.toISOString()}">${escapeHtml(time)} UTC</time></p>
      ${player}
      <p class="actions"><a class="button" href="${source}">Download</a></p>`,
  );
}

const showQuestion = (status: number, problem: string | null): Response =>
  showPage(
    status,
    "Protected recording",
    `<h1>This recording is protected</h1>
      <p class="soft">Enter the password that you were given with the link.</p>
      <form method="post">
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="off" required maxlength="${MAX_SHARE_PASSWORD_CHARACTERS}"${problem === null ? "" : ' aria-invalid="true" aria-describedby="problem"'} />
        ${problem === null ? "" : `<p class="bad" id="problem" role="alert">${escapeHtml(problem)}</p>`}
        <button class="button" type="submit">Open</button>
      </form>`,
  );

const showBrokenLink = (): Response =>
  showPage(
    404,
    "Link not available",
    `<h1>This link does not work</h1>
      <p>It has expired or was revoked. Ask the person who sent it for a new one.</p>`,
  );

/** Creates a page. It is neither stored nor indexed, and loads nothing but its style and the file. */
const showPage = (status: number, title: string, content: string): Response =>
  toResponse({
    status,
    text: formatPage(
      title,
      `<meta name="robots" content="noindex, nofollow" />
    <link rel="stylesheet" href="${STYLE_PATH}" />`,
      `<header>Offcut</header>
    <main>
      ${content}
    </main>`,
    ),
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": SHARE_POLICY,
      "X-Robots-Tag": "noindex, nofollow",
    },
  });
