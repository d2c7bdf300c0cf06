/** The API's description at `/openapi.json` and its page at `/docs`, whole from the executable: a studio's network has no CDN. */
import { Elysia } from "elysia";
import style from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import script from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import html from "../../web/docs.html" with { type: "text" };
import start from "../../web/docs.js" with { type: "text" };
import { API_GUIDE } from "./api-guide";
import { createComponents, createPaths, createUploadPaths } from "./openapi";
import { toPageResponse } from "./pages";
import type { Route } from "./route";

/** The documentation of the public family, as a plugin. */
export function createDocsPlugin(routes: Route[]) {
  const description = JSON.stringify({
    // Nullable fields are said in 3.1's way.
    openapi: "3.1.0",
    info: { title: "Offcut", version: "0.0.0", description: API_GUIDE },
    paths: { ...createPaths("/v1", routes), ...createUploadPaths() },
    components: {
      schemas: createComponents(),
      securitySchemes: { apiKey: { type: "http", scheme: "bearer", bearerFormat: "sk_…" } },
    },
    security: [{ apiKey: [] }],
  });
  const json = { "Content-Type": "application/json; charset=utf-8" };
  return new Elysia({ name: "docs" })
    .get("/openapi.json", () => new Response(description, { headers: json }))
    .get("/docs", () => toPageResponse("html", html as unknown as string))
    .get("/docs/start.js", () => toPageResponse("javascript", start as unknown as string))
    .get("/docs/swagger-ui.js", () => toPageResponse("javascript", Bun.file(script)))
    .get("/docs/swagger-ui.css", () => toPageResponse("css", Bun.file(style)));
}
