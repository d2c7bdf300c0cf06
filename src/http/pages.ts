/** Web pages from `web/`, bundled in the executable. */
import { Elysia } from "elysia";
import style from "../../web/index.css" with { type: "text" };
import front from "../../web/index.html" with { type: "text" };
import script from "../../web/index.js" with { type: "text" };
import { PAGE_POLICY } from "./security-headers";

type PageFileType = "html" | "javascript" | "css";

/** Creates the response of a page or of a file that a page loads. */
export const toPageResponse = (kind: PageFileType, body: string | Blob): Response =>
  new Response(body, {
    headers: { "Content-Type": `text/${kind}; charset=utf-8`, "Content-Security-Policy": PAGE_POLICY },
  });

/** Creates the plugin of the front page, which shows whether the server is ready. */
export const createPagesPlugin = () =>
  new Elysia({ name: "pages" })
    .get("/", () => toPageResponse("html", front as unknown as string))
    .get("/index.js", () => toPageResponse("javascript", script as unknown as string))
    .get("/index.css", () => toPageResponse("css", style as unknown as string));
