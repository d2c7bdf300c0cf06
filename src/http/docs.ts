/** The API's description at `/openapi.json` and its page at `/docs`, whole from the executable: a studio's network has no CDN. */
import { swagger } from "@elysiajs/swagger";
import { Elysia } from "elysia";
import style from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import script from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { API_GUIDE } from "./api-guide";
import { components, openapiPaths, uploadPaths } from "./openapi";
import type { Route } from "./route";

const SPEC_PATH = "/openapi.json";
const SCRIPT_PATH = "/docs/swagger-ui.js";
const STYLE_PATH = "/docs/swagger-ui.css";

/** The documentation of the public family, as a plugin. */
export function docs(routes: Route[]) {
  const paths = { ...openapiPaths("/v1", routes), ...uploadPaths() };
  return new Elysia({ name: "docs" })
    .use(
      swagger({
        path: "/docs",
        specPath: SPEC_PATH,
        provider: "swagger-ui",
        theme: STYLE_PATH,
        exclude: [/./],
        documentation: {
          // Nullable fields are said in 3.1's way.
          ...({ openapi: "3.1.0" } as object),
          paths: paths as never,
          info: {
            title: "Offcut",
            version: "0.0.0",
            description: API_GUIDE,
          },
          components: {
            schemas: components() as never,
            securitySchemes: { apiKey: { type: "http", scheme: "bearer", bearerFormat: "sk_…" } },
          },
          security: [{ apiKey: [] }],
        },
      }),
    )
    .get(SCRIPT_PATH, () => new Response(Bun.file(script), { headers: { "Content-Type": "text/javascript" } }))
    .get(STYLE_PATH, () => new Response(Bun.file(style), { headers: { "Content-Type": "text/css" } }));
}

/** The page as the plugin writes it names a script on a CDN, and has the whole guide unescaped in its head: neither may stay. */
export async function withLocalScript(page: Response): Promise<Response> {
  const html = (await page.text())
    .replace(/<meta\s+name="(og:)?description"[\s\S]*?\/>/g, "")
    .replace(/<script src="https:\/\/[^"]*"[^>]*>/, `<script src="${SCRIPT_PATH}">`)
    // Relative, it would not be found from `/docs/`.
    .replace('"url":"openapi.json"', `"url":"${SPEC_PATH}"`);
  const headers = new Headers(page.headers);
  headers.delete("content-length");
  return new Response(html, { status: page.status, headers });
}
