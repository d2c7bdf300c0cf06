/** Pages that a browser shows without the dashboard: those of share links, and of links that did not work. */
import font from "@fontsource-variable/inter/files/inter-latin-wght-normal.woff2" with { type: "file" };
import { Elysia } from "elysia";
import brand from "../../web/shell/brand.css" with { type: "text" };
import standalone from "../../web/standalone.css" with { type: "text" };
import fontFace from "../../web/styles/font.css" with { type: "text" };
import reset from "../../web/styles/reset.css" with { type: "text" };
import tokens from "../../web/styles/tokens.css" with { type: "text" };
import button from "../../web/ui/button.css" with { type: "text" };
import form from "../../web/ui/form.css" with { type: "text" };
import text from "../../web/ui/text.css" with { type: "text" };
import { escapeHtml, formatPage, toPageResponse } from "./pages";

const STYLE_PATH = "/standalone.css";
const FONT_PATH = "/inter.woff2";

/** The dashboard has the same styles, in a bundle whose names change with each release. */
const STYLE = [fontFace.replace(/url\("[^"]+"\)/, `url("${FONT_PATH}")`), reset, tokens, text, button, form, brand]
  .concat(standalone)
  .join("\n");

export const createStandalonePagesPlugin = () =>
  new Elysia({ name: "standalone-pages", strictPath: true })
    .get(STYLE_PATH, () => toPageResponse("css", STYLE))
    .get(
      FONT_PATH,
      () =>
        new Response(Bun.file(font), {
          headers: { "Content-Type": "font/woff2", "Cache-Control": "public, max-age=86400" },
        }),
    );

/** The product's symbol. */
export const SYMBOL = `<svg viewBox="0 0 32 32" aria-hidden="true"><rect fill="var(--brand)" width="32" height="32" rx="7" /><path fill="var(--on-brand)" d="M6 11h8v10H6zM18 11h3v10h-3zM25 11h1.5v10H25z" /></svg>`;

/** Formats a page. `head`: more of its links; `content` is HTML. */
export const formatStandalonePage = (title: string, content: string, head = ""): string =>
  formatPage(title, `<link rel="stylesheet" href="${STYLE_PATH}" />${head}`, content);

/**
 * Formats the content of a page with a single card. `home`: the address to which the product's name leads, null for
 * people who may have no account; `content` is HTML.
 */
export const formatCard = (title: string, content: string, home: string | null = null): string =>
  `<header class="standalone-bar">${home === null ? '<span class="shell-brand">' : `<a class="shell-brand" href="${home}">`}${SYMBOL}Offcut</${home === null ? "span" : "a"}></header>
    <main class="note">
      <h1>${escapeHtml(title)}</h1>
      ${content}
    </main>`;
