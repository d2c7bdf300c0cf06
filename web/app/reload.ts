/** Keeps an open page current while the dashboard is being developed. Only `bun run dev` bundles it. */

const INTERVAL_MS = 300;
const readBuild = (page: Document) => page.querySelector<HTMLMetaElement>("meta[name=build]")?.content;
const findStyle = (page: Document) => page.querySelector<HTMLLinkElement>("link[rel=stylesheet]")!;
const build = readBuild(document);

setInterval(() => void update().catch(() => {}), INTERVAL_MS);

/** Replaces a style sheet that has changed, and reloads the page for any other change. */
async function update(): Promise<void> {
  const response = await fetch("/sign-in");
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  const current = readBuild(fresh);
  if (current === undefined) return;
  if (current !== build) return location.reload();
  const [shown, style] = [findStyle(document), findStyle(fresh)];
  if (shown.getAttribute("href") !== style.getAttribute("href")) shown.href = style.getAttribute("href")!;
}
