/** Serves the page of the editor's benchmarks under the policy of the dashboard, and opens Chromium on it. */
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { launchChromium } from "../../chromium";

const HOST = "studio.test";
const WEB = join(import.meta.dir, "../../../web");
const POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; object-src 'none'; base-uri 'none'";
const PAGE = `<!doctype html><html lang="en"><head><title>Editor</title><link rel="stylesheet" href="/app.css"></head>
<body class="editor-bench"><main><section id="timeline" aria-label="Timeline"></section>
<section id="transcript" aria-label="Transcript"></section></main><script type="module" src="/page.js"></script></body></html>`;
/** A sheet of the storyboard with numbered pictures, so that a wrong one shows. */
const drawSheet = (sheet: number) => {
  const tiles = Array.from({ length: 100 }, (_, index) => {
    const [x, y] = [(index % 10) * 160, Math.floor(index / 10) * 90];
    const hue = (sheet * 40 + index * 3) % 360;
    return `<rect x="${x}" y="${y}" width="160" height="90" fill="hsl(${hue} 30% 40%)"/><circle cx="${x + 80}" cy="${y + 38}" r="18" fill="#fff6"/>
<text x="${x + 8}" y="${y + 82}" fill="#fff" font-size="20">${sheet * 100 + index}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="1600" height="900">${tiles.join("")}</svg>`;
};

/** The bundle has the font in the style sheet, which the policy does not allow. The dashboard serves it as a file. */
const withoutFonts = (style: string): string => style.replaceAll(/@font-face\s*\{[^}]*\}/g, "");

export type BenchServer = { url: string; browser: Browser; [Symbol.asyncDispose](): Promise<void> };

export async function startEditorBench(): Promise<BenchServer> {
  const build = async (entry: string) => {
    const result = await Bun.build({ entrypoints: [entry], target: "browser", minify: true });
    return result.outputs[0]!.text();
  };
  const [script, style, signedInStyle, editorStyle] = await Promise.all([
    build(join(import.meta.dir, "editor-page.ts")),
    build(join(WEB, "app.css")),
    build(join(WEB, "signed-in.css")),
    build(join(WEB, "editor.css")),
  ]);
  const layout = "body.editor-bench main { display: grid; gap: 16px; padding: 16px; } #transcript { height: 420px; }";
  const files: Record<string, [string, string]> = {
    "/": [PAGE, "text/html"],
    "/page.js": [script, "text/javascript"],
    "/app.css": [withoutFonts(style) + signedInStyle + editorStyle + layout, "text/css"],
  };
  const browser = await launchChromium([`--host-resolver-rules=MAP ${HOST} 127.0.0.1`], true);
  const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
  await page.setContent(`<body style="margin: 0">${drawSheet(0)}</body>`);
  const sheet = new Uint8Array(await page.screenshot({ type: "jpeg", quality: 70 }));
  await page.close();
  const server = Bun.serve({
    port: 0,
    fetch: ({ url }) => {
      const { pathname } = new URL(url);
      const isSheet = /^\/storyboard\/\d+$/.test(pathname);
      const [body, type] = isSheet ? [sheet, "image/jpeg"] : (files[pathname] ?? ["", "text/plain"]);
      return new Response(body, { headers: { "Content-Type": type, "Content-Security-Policy": POLICY } });
    },
  });
  const close = async () => {
    await browser.close();
    await server.stop(true);
  };
  return { url: `http://${HOST}:${server.port}/`, browser, [Symbol.asyncDispose]: close };
}
