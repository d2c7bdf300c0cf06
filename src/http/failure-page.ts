/** The page that explains why a link that a person opened did not work. */
import { Elysia } from "elysia";
import style from "../../web/failure.css" with { type: "text" };
import { type AppError, HTTP_STATUS, isHttpCode } from "../domain/errors";
import type { Reply } from "./call";
import { toSingleLine } from "./errors";
import { escapeHtml, formatPage, toPageResponse } from "./pages";
import { PAGE_POLICY } from "./security-headers";

const STYLE_PATH = "/failure.css";

export const createFailurePagePlugin = () =>
  new Elysia({ name: "failure-page", strictPath: true }).get(STYLE_PATH, () => toPageResponse("css", style));

/** Returns whether a person sent the request, and should therefore receive a page. A program gets the error. */
export const isAskedByPerson = ({ method, headers }: Request): boolean =>
  method === "GET" && headers.get("accept")?.includes("text/html") === true;

export function createFailurePage(
  error: AppError,
  { title, href, link }: { title: string; href: string; link: string },
): Reply {
  const text = formatPage(
    title,
    `<link rel="stylesheet" href="${STYLE_PATH}" />`,
    `<header><a href="/">Offcut</a></header>
    <main>
      <h1>${escapeHtml(title)}</h1>
      <p>${escapeHtml(toSingleLine(error.message))}</p>
      <p><a href="${escapeHtml(href)}">${escapeHtml(link)}</a></p>
    </main>`,
  );
  const headers: Record<string, string> = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": PAGE_POLICY,
    "Cache-Control": "no-store",
  };
  const { retryAfterSeconds } = error.details;
  if (retryAfterSeconds !== undefined) headers["Retry-After"] = String(retryAfterSeconds);
  return { status: isHttpCode(error.code) ? HTTP_STATUS[error.code] : 500, text, headers };
}
