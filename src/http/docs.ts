/**
 * The OpenAPI documents, made by the plugin of Elysia, and the pages below `/docs`: the guide of each family with its reference, and that of
 * administrators. Everything comes from the executable, because a studio's network may have no internet.
 */
import { Elysia } from "elysia";
import referenceStyle from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import referenceScript from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import style from "../../web/docs/docs.css" with { type: "text" };
import start from "../../web/docs/start.js" with { type: "text" };
import tokens from "../../web/styles/tokens.css" with { type: "text" };
import type { Family, FamilyRoute } from "./family";
import { GUIDES, type Guide } from "./guide";
import { createGuidePage } from "./guide/page";
import { createOpenApiDocument } from "./openapi";
import { toPageResponse } from "./pages";

const FILES = {
  style: "/docs/docs.css",
  start: "/docs/start.js",
  referenceStyle: "/docs/swagger-ui.css",
  referenceScript: "/docs/swagger-ui.js",
};

/** Creates the plugin, with a document and a page for each family and its routes. */
export function createDocsPlugin(families: { family: Family; routes: FamilyRoute[] }[]) {
  const plugin = new Elysia({ name: "docs", strictPath: true });
  const documentPaths = new Map<Guide, string>();
  for (const { family, routes } of families) {
    const { path, guide } = family.document;
    documentPaths.set(guide, path);
    let document: Promise<string> | undefined;
    plugin.get(path, async () => {
      document ??= createOpenApiDocument(family, routes);
      return new Response(await document, { headers: { "Content-Type": "application/json; charset=utf-8" } });
    });
  }
  const guides = Object.values(GUIDES);
  for (const guide of guides) {
    const page = createGuidePage(guide, documentPaths.get(guide) ?? null, guides, FILES);
    for (const path of [guide.path, `${guide.path}/`]) plugin.get(path, () => toPageResponse("html", page));
  }
  return plugin
    .get(FILES.style, () => toPageResponse("css", tokens + style))
    .get(FILES.start, () => toPageResponse("javascript", start))
    .get(FILES.referenceStyle, () => toPageResponse("css", Bun.file(referenceStyle)))
    .get(FILES.referenceScript, () => toPageResponse("javascript", Bun.file(referenceScript)));
}
