/** Pages for people, from `web/`, whole from the executable. */
import { Elysia } from "elysia";
import front from "../../web/index.html" with { type: "text" };

const HTML = {
  "Content-Type": "text/html; charset=utf-8",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

/** The front page, which says whether the server can work. */
export const pages = () =>
  new Elysia({ name: "pages" }).get("/", () => new Response(front as unknown as string, { headers: HTML }));
