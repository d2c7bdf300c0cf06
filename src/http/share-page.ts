/**
 * The page of a share link, for people without an account: a player with its transcript, a download and, before them,
 * the question for the password. It has no scripts.
 */
import { Type } from "@sinclair/typebox";
import { formatBytes } from "../domain/bytes";
import { AppError } from "../domain/errors";
import { MAX_SHARE_PASSWORD_CHARACTERS } from "../domain/field-limits";
import { toFileStem } from "../domain/file-names";
import { strictObject } from "../domain/schema-parts";
import { fromSeconds } from "../domain/time";
import { formatClock } from "../domain/transcript-text";
import { findFile } from "../lib/file-size";
import { withTimeLimit } from "../lib/time-limit";
import { type Asset, findAssetById } from "../store/assets";
import { readPlanFacts } from "../store/cuts";
import { findRenderShareById } from "../store/render-shares";
import { findUserById, formatUserName } from "../store/users";
import { findWorkspaceById } from "../store/workspaces";
import type { Services } from "../work/services";
import { toResponse } from "./call";
import type { RequestClient } from "./client";
import { escapeHtml } from "./pages";
import { parseForm, readBodyText } from "./parse-request";
import { SHARE_POLICY } from "./security-headers";
import { findLinkProblem, findSharedRender, formatShareCookie, isUnlocked, type SharedRender } from "./shared-renders";
import { readSharedText } from "./shared-texts";
import { formatCard, formatStandalonePage, SYMBOL } from "./standalone-pages";

const MAX_FORM_BYTES = 4_096;
/** Longer lists of languages are read up to here. */
const MAX_LANGUAGES_CHARACTERS = 200;
/** A page that would wait longer for its transcript is shown without it. The next one finds it. */
const MAX_TRANSCRIPT_WAIT_MS = 3_000;

/**
 * Serves GET and HEAD of the page of a link, and POST with its password. Only links with a valid signature show whether
 * they have expired or were revoked, so that invented ones do not reveal which links exist.
 */
export async function serveSharePage(
  services: Services,
  request: Request,
  shareId: string,
  { client }: { client: RequestClient },
): Promise<Response> {
  const problem = findLinkProblem(services, request, { kind: "shares", id: shareId, what: "page" });
  if (problem !== null) return showNotice(problem === "expired" ? EXPIRED : BROKEN);
  const found = await findSharedRender(services, shareId);
  if (found === null) return showNotice(GONE);
  try {
    if (!isUnlocked(services, request, found.share))
      return request.method === "POST" ? await unlock(services, request, found, client) : showQuestion(200, null);
    return request.method === "POST" ? reload(request) : await showPlayer(services, found, findLanguage(request));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { retryAfterSeconds = 1 } = error.details;
    if (error.code !== "rate_limited" && error.code !== "upstream_unavailable")
      return showQuestion(400, "The password could not be read. Try again.");
    const minutes = Math.ceil(retryAfterSeconds / 60);
    const response = showNotice(
      error.code === "rate_limited"
        ? {
            status: 429,
            title: "Too many attempts",
            text: `The password was wrong too often. Try again in ${minutes} ${minutes === 1 ? "minute" : "minutes"}.`,
          }
        : UNAVAILABLE,
      `<a class="button" href="page${escapeHtml(new URL(request.url).search)}">Try again</a>`,
    );
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

/**
 * Shows the player. `language`: that of numbers and dates; the texts are English. Throws `AppError`
 * `upstream_unavailable` while the folder of the file is offline.
 */
async function showPlayer(services: Services, found: SharedRender, language: string): Promise<Response> {
  const { share, render } = found;
  const { guard, renderOutput } = services.folders;
  const { format, video } = render.resolved;
  if ((await guard.readOnline(() => findFile(renderOutput(render.id, format)))) === null) return showNotice(GONE);
  const asset = await findAssetById(services.store.read, render.asset_id);
  const name = asset?.name ?? toFileStem(asset?.filename) ?? "Recording";
  const reading = readSharedText(services, render, "transcript").catch(() => null);
  const text = await withTimeLimit(reading, MAX_TRANSCRIPT_WAIT_MS, () => null);
  // Relative, so that the browser stays on the host from which it loaded the page.
  const toSource = (what: "output" | "captions") =>
    escapeHtml(`${what}${new URL(services.links.signShare(share.id, share.expires_at, what)).search}`);
  const spoken = asset?.language ?? asset?.language_detected?.code ?? null;
  const lang = (attribute: string) => (spoken === null ? "" : ` ${attribute}="${escapeHtml(spoken)}"`);
  const captions =
    text === null ? "" : `<track kind="captions" label="Captions"${lang("srclang")} src="${toSource("captions")}" />`;
  const attributes = `controls preload="metadata" aria-label="Player" src="${toSource("output")}"`;
  const player =
    video === null
      ? `<div class="shared-audio"><audio ${attributes}></audio></div>`
      : `<video ${attributes} playsinline width="${video.width}" height="${video.height}">${captions}</video>`;
  const content = `<header class="shared-head">${SYMBOL}
      <div>
        <h1 dir="auto">${escapeHtml(name)}</h1>
        <p class="soft number">${await describe(services, found, asset, language)}</p>
      </div>
      <a class="button primary" href="${toSource("output")}">Download</a>
    </header>
    <main class="shared${text === null || video === null ? "" : " has-columns"}">
      <div>${player}</div>${text === null ? "" : formatTranscript(text, lang("lang"))}
    </main>`;
  return showPage(200, name, content);
}

/** Formats who shared a render, its length and size, and when its link expires, as HTML. */
async function describe(services: Services, { share, render }: SharedRender, asset: Asset | null, language: string) {
  const { read } = services.store;
  const [user, workspace] = [
    await findUserById(read, share.created_by),
    await findWorkspaceById(read, share.workspace_id),
  ];
  const from = [user && formatUserName(user), workspace?.is_personal === false && workspace.name].filter(Boolean);
  const kept = render.cut_id === null ? null : await readPlanFacts(read, render.cut_id);
  const length = kept ? fromSeconds(kept.keptSeconds) : (asset?.duration ?? null);
  const bytes = render.size_bytes;
  const until = new Date(share.expires_at);
  const time = until.toLocaleString(language, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
  const facts = [
    from.length > 0 && `Shared by <bdi>${escapeHtml(from.join(", "))}</bdi>`,
    length !== null && formatClock(length),
    bytes !== null && formatBytes(bytes, (value) => value.toLocaleString(language)),
    `Available until <time datetime="${until.toISOString()}">${escapeHtml(time)} UTC</time>`,
  ];
  return facts.filter(Boolean).join(" · ");
}

/** Formats the text that `readSharedText` returns. Browsers scroll it by itself, also with the keyboard. */
function formatTranscript(text: string, lang: string): string {
  const paragraphs = text.split("\n\n").map((paragraph) => {
    const [, time = "", words = paragraph] = /^\[([\d:]+)\] (.*)$/s.exec(paragraph.trim()) ?? [];
    return `<p><span class="number">${time}</span><span${lang} dir="auto">${escapeHtml(words)}</span></p>`;
  });
  return `
      <section class="shared-text" aria-labelledby="transcript" tabindex="0">
        <h2 id="transcript">Transcript</h2>
        ${paragraphs.join("\n        ")}
      </section>`;
}

const showQuestion = (status: number, problem: string | null): Response => {
  const title = "Enter the password";
  const content = `<p>This recording is protected. If you have no password, ask the person who sent the link.</p>
      <form method="post">
        <div class="field">
          <label class="label" for="password">Password</label>
          <input class="input" id="password" name="password" type="password" autocomplete="off" required autofocus maxlength="${MAX_SHARE_PASSWORD_CHARACTERS}"${problem === null ? "" : ' aria-invalid="true" aria-describedby="problem"'} />
          ${problem === null ? "" : `<p class="field-error" id="problem" role="alert">${escapeHtml(problem)}</p>`}
        </div>
        <button class="button primary" type="submit">Open</button>
      </form>`;
  return showPage(status, title, formatCard(title, content));
};

type LinkNotice = { status: number; title: string; text: string };

const BROKEN: LinkNotice = {
  status: 404,
  title: "This link does not work",
  text: "Check that the address is complete, or ask the person who sent it for a new link.",
};
const EXPIRED: LinkNotice = {
  status: 404,
  title: "This link has expired",
  text: "Ask the person who sent it for a new link.",
};
const GONE: LinkNotice = {
  status: 404,
  title: "This recording is no longer shared",
  text: "The link was revoked, or the file was deleted. Ask the person who sent it for a new link.",
};
const UNAVAILABLE: LinkNotice = {
  status: 503,
  title: "Not available at the moment",
  text: "The server is busy, or its storage is offline. Try again in a few minutes.",
};

/** `action` is HTML. */
const showNotice = ({ status, title, text }: LinkNotice, action = ""): Response =>
  showPage(status, title, formatCard(title, `<p>${escapeHtml(text)}</p>${action}`));

/** Creates a page. It is neither stored nor indexed, and loads nothing but its style, font, file and captions. */
const showPage = (status: number, title: string, content: string): Response =>
  toResponse({
    status,
    text: formatStandalonePage(title, content, `<meta name="robots" content="noindex, nofollow" />`),
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": SHARE_POLICY,
      "X-Robots-Tag": "noindex, nofollow",
    },
  });
