/**
 * The OpenAPI documents and the page `/docs`, made by the plugin of Elysia. Everything comes from the executable, because a studio's network
 * may have no internet.
 */
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import style from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import bundle from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import type { Family, FamilyRoute } from "./family";
import { createOpenApiDocument, DOCUMENT_INFO } from "./openapi";
import { toPageResponse } from "./pages";

const PAGE_PATH = "/docs";
const START_PATH = `${PAGE_PATH}/start.js`;
const BUNDLE_PATH = `${PAGE_PATH}/swagger-ui.js`;
const STYLE_PATH = `${PAGE_PATH}/swagger-ui.css`;

/** Creates the plugin, with a document for each family and its routes. Throws if the page of the plugin of Elysia has changed. */
export async function createDocsPlugin(families: { family: Family; routes: FamilyRoute[] }[]) {
  const { html, start } = splitPage(await createPage());
  const plugin = new Elysia({ name: "docs", strictPath: true });
  for (const { family, routes } of families) {
    let document: Promise<string> | undefined;
    plugin.get(family.document.path, async () => {
      document ??= createOpenApiDocument(family, routes);
      return new Response(await document, { headers: { "Content-Type": "application/json; charset=utf-8" } });
    });
  }
  return plugin
    .get(PAGE_PATH, () => toPageResponse("html", html))
    .get(`${PAGE_PATH}/`, () => toPageResponse("html", html))
    .get(START_PATH, () => toPageResponse("javascript", start))
    .get(BUNDLE_PATH, () => toPageResponse("javascript", Bun.file(bundle)))
    .get(STYLE_PATH, () => toPageResponse("css", Bun.file(style)));
}

/** Returns the page of the plugin of Elysia. */
async function createPage(): Promise<string> {
  const swaggerOptions = {
    // Not relative, because the page is at `/docs/` too.
    url: "/openapi.json",
    // By default, Swagger UI sends the URL of the document to a validator on the internet.
    validatorUrl: "none",
  } as object;
  const documentation = { info: { ...DOCUMENT_INFO, description: "Reference of the API" } };
  const page = swagger({
    path: PAGE_PATH,
    provider: "swagger-ui",
    theme: STYLE_PATH,
    autoDarkMode: false,
    swaggerOptions,
    documentation,
  });
  return (await page.handle(new Request(`http://offcut${PAGE_PATH}`))).text();
}

/** The scripts of the page: Swagger UI from another server, and the one that starts it. */
const SCRIPTS = /<script src="https:[^"]*\/swagger-ui-bundle\.js" crossorigin><\/script>\s*<script>(.*?)<\/script>/s;
/** Anything else that `PAGE_POLICY` refuses. */
const REFUSED = /\/\/|<style|\sstyle=|<script(?! src="\/docs\/)|\son\w+=/i;

/** Returns the page with its scripts at paths of this server, and the text of the script that starts it. Throws if it has more than that. */
export function splitPage(page: string): { html: string; start: string } {
  const start = SCRIPTS.exec(page)?.[1];
  const scripts = `<script src="${BUNDLE_PATH}"></script>\n    <script src="${START_PATH}"></script>`;
  const html = page.replace(SCRIPTS, scripts).replace("</head>", '<link rel="icon" href="data:," />\n</head>');
  if (start === undefined || REFUSED.test(html + start))
    throw new Error("The documentation page of @elysiajs/swagger has changed: adapt http/docs.ts.");
  return { html, start };
}
