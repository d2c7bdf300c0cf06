/** The OpenAPI documents and the page `/docs`. Everything comes from the executable, because a studio's network may have no internet. */
import { Elysia } from "elysia";
import style from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import script from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import html from "../../web/docs.html" with { type: "text" };
import start from "../../web/docs.js" with { type: "text" };
import type { Family } from "./family";
import { createOpenApiDocument } from "./openapi";
import { toPageResponse } from "./pages";

/** Creates the plugin, with a document for each family. */
export function createDocsPlugin(families: Family[]) {
  const plugin = new Elysia({ name: "docs" });
  for (const family of families) {
    const document = JSON.stringify(createOpenApiDocument(family));
    const headers = { "Content-Type": "application/json; charset=utf-8" };
    plugin.get(family.document.path, () => new Response(document, { headers }));
  }
  return plugin
    .get("/docs", () => toPageResponse("html", html as unknown as string))
    .get("/docs/start.js", () => toPageResponse("javascript", start as unknown as string))
    .get("/docs/swagger-ui.js", () => toPageResponse("javascript", Bun.file(script)))
    .get("/docs/swagger-ui.css", () => toPageResponse("css", Bun.file(style)));
}
