/**
 * The guide in Markdown: a page for each family of routes, which is also the description at the head of its OpenAPI
 * document, and one for administrators. `test/http/guide.test.ts` runs the examples.
 */
import administration from "./administration.md" with { type: "text" };
import dashboard from "./dashboard.md" with { type: "text" };
import keys from "./keys.md" with { type: "text" };
import oauth from "./oauth.md" with { type: "text" };
import publicGuide from "./public.md" with { type: "text" };

/** A page. `text` is Markdown whose links are paths of the server. */
export type Guide = { path: string; title: string; text: string };

/** The pages by the names of their files, in the order of the navigation. */
const PAGES = {
  public: { path: "/docs", title: "Public API", text: publicGuide },
  dashboard: { path: "/docs/dashboard", title: "Dashboard API", text: dashboard },
  keys: { path: "/docs/keys", title: "API keys", text: keys },
  oauth: { path: "/docs/devices", title: "Devices", text: oauth },
  administration: { path: "/docs/administration", title: "Administration", text: administration },
} satisfies Record<string, Guide>;

type GuideName = keyof typeof PAGES;

/** Returns the text with links between the files, which work in the repository, as links between the pages. */
const linkPages = (text: string): string =>
  text.replace(/\]\((\w+)\.md(#[\w-]+)?\)/g, (link, name: string, anchor = "") =>
    name in PAGES ? `](${PAGES[name as GuideName].path}${anchor})` : link,
  );

export const GUIDES = Object.fromEntries(
  Object.entries(PAGES).map(([name, page]) => [name, { ...page, text: linkPages(page.text) }]),
) as Record<GuideName, Guide>;
