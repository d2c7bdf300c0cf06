/** Responses of web pages from `web/` that are not part of the dashboard. */
import { PAGE_POLICY } from "./security-headers";

type PageFileType = "html" | "javascript" | "css";

export const toPageResponse = (kind: PageFileType, body: string | Blob): Response =>
  new Response(body, {
    headers: { "Content-Type": `text/${kind}; charset=utf-8`, "Content-Security-Policy": PAGE_POLICY },
  });
