/** Web pages that are not part of the dashboard: their responses, and text in them. */
import icon from "../../web/icon.svg" with { type: "text" };
import { PAGE_POLICY } from "./security-headers";

type PageFileType = "html" | "javascript" | "css";

export const toPageResponse = (kind: PageFileType, body: string | Blob): Response =>
  new Response(body, {
    headers: { "Content-Type": `text/${kind}; charset=utf-8`, "Content-Security-Policy": PAGE_POLICY },
  });

/** Escapes a text for the content of an element or an attribute in double quotes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Inline, because the policy of share pages allows no other image. */
const ICON = `data:image/svg+xml,${encodeURIComponent(icon)}`;

/** Formats a page. `head`: its links and scripts; both parts are HTML. */
export const formatPage = (title: string, head: string, body: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escapeHtml(title)} – Offcut</title>
    <link rel="icon" href="${ICON}" />
    ${head}
  </head>
  <body>
    ${body}
  </body>
</html>
`;
