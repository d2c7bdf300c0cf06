/** The HTML page of a guide, with its contents and, for a family, the reference that Swagger UI shows. Nothing in it is inline. */
import type { Guide } from "./index";

export type PageFiles = { style: string; start: string; referenceStyle: string; referenceScript: string };

const HEADING = /<h2 id="([^"]+)"><a [^>]*>(.*?)<\/a><\/h2>/g;

/** Creates the page. `documentPath`: the OpenAPI document of the reference, null for none. `all`: the pages of the navigation. */
export function createGuidePage(guide: Guide, documentPath: string | null, all: Guide[], files: PageFiles): string {
  const text = renderMarkdown(guide.text);
  const headings = [...text.matchAll(HEADING)].map(([, id, title]) => `<li><a href="#${id}">${title}</a></li>`);
  if (documentPath !== null) headings.push('<li><a href="#reference">Reference</a></li>');
  const tabs = all.map(({ path, title }) => {
    const current = path === guide.path ? ' aria-current="page"' : "";
    return `<a class="tab" href="${path}"${current}>${title}</a>`;
  });
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${guide.title} – Offcut</title>${documentPath === null ? "" : `\n    <link rel="stylesheet" href="${files.referenceStyle}" />`}
    <link rel="stylesheet" href="${files.style}" />
    <link rel="icon" href="data:," />
    <script src="${files.start}"></script>
  </head>
  <body>
    <header class="bar">
      <a class="brand" href="/">Offcut</a>
      <nav aria-label="Documentation">${tabs.join("")}</nav>
    </header>
    <div class="columns">
      <nav class="contents" aria-label="Contents">
        <details id="contents" open>
          <summary>Contents</summary>
          <ul>${headings.join("")}</ul>
        </details>
      </nav>
      <main>
        <div class="guide">
          <h1>${guide.title}</h1>
          ${text}
        </div>${documentPath === null ? "" : createReference(documentPath, files.referenceScript)}
      </main>
    </div>
  </body>
</html>
`;
}

const createReference = (documentPath: string, script: string): string => `
        <section aria-labelledby="reference">
          <h2 id="reference">Reference</h2>
          <p>All calls with their fields and errors. Programs read the <a href="${documentPath}">OpenAPI document</a>.</p>
          <div id="swagger-ui" data-url="${documentPath}" data-script="${script}">Loading…</div>
        </section>`;

/** Renders the Markdown. Code and tables scroll sideways by themselves, also with the keyboard. */
const renderMarkdown = (text: string): string =>
  Bun.markdown
    .html(text, { headings: true })
    .replaceAll("<pre>", '<pre tabindex="0">')
    .replaceAll("<table>", '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>')
    .replaceAll("</table>", "</table></div>");
