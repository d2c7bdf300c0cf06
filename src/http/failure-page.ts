/** The page that explains why a link that a person opened did not work. */
import { type AppError, HTTP_STATUS, isHttpCode } from "../domain/errors";
import type { Reply } from "./call";
import { toSingleLine } from "./errors";
import { escapeHtml } from "./pages";
import { PAGE_POLICY } from "./security-headers";
import { formatCard, formatStandalonePage } from "./standalone-pages";

/** Returns whether a person sent the request, and should therefore receive a page. A program gets the error. */
export const isAskedByPerson = ({ method, headers }: Request): boolean =>
  method === "GET" && headers.get("accept")?.includes("text/html") === true;

/** `missing` replaces the message of `not_found`. Without `link`, the person may have no account. */
type FailurePage = { title: string; missing?: string; link?: { href: string; label: string } };

export function createFailurePage(error: AppError, { title, missing, link }: FailurePage): Reply {
  const text = (error.code === "not_found" && missing) || toSingleLine(error.message);
  const button =
    link === undefined
      ? ""
      : `
      <a class="button primary" href="${escapeHtml(link.href)}">${escapeHtml(link.label)}</a>`;
  const content = `<p>${escapeHtml(text)}</p>${button}`;
  const headers: Record<string, string> = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": PAGE_POLICY,
    "Cache-Control": "no-store",
  };
  const { retryAfterSeconds } = error.details;
  if (retryAfterSeconds !== undefined) headers["Retry-After"] = String(retryAfterSeconds);
  return {
    status: isHttpCode(error.code) ? HTTP_STATUS[error.code] : 500,
    text: formatStandalonePage(title, formatCard(title, content, link === undefined ? null : "/")),
    headers,
  };
}
