/**
 * Bundles the dashboard: `bun src/build/web.ts`. Names of scripts and styles contain their hash, so that browsers can
 * cache them forever; `index.html` names the current ones, `pages.json` those of each page, for its headers.
 */
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { basename, join, resolve } from "node:path";

const PROJECT = resolve(import.meta.dir, "../..");

/** Folder of the bundle. A server that runs from the sources reads it. */
export const WEB_FOLDER = join(PROJECT, "dist/assets/web");

/** Style sheets that are loaded in addition to `app.css`, with the code that needs them. */
const STYLES = ["signed-in", "pages", "admin", "editor"];

/**
 * Writes the bundle to `folder`, which is replaced as a whole; in development with source maps, and with a script that
 * reloads pages. Throws `AggregateError` with the log of the bundler.
 */
export async function bundleWeb(folder: string = WEB_FOLDER, { isDevelopment = false } = {}): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  const talk = await copyWithHash(join(PROJECT, "test/fixtures/talk.mp4"), draft);
  const options = {
    outdir: draft,
    target: "browser" as const,
    minify: !isDevelopment,
    sourcemap: isDevelopment ? ("linked" as const) : ("none" as const),
    naming: { entry: "[name]-[hash].[ext]", chunk: "chunk-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"', DEMO_TALK_URL: JSON.stringify(talk) },
  };
  const entrypoints = ["app/main.tsx", "app.css", ...STYLES.map((name) => `${name}.css`)].map((name) =>
    join(PROJECT, "web", name),
  );
  const plugins = [createFontsPlugin(draft), createBreakpointsPlugin()];
  const result = await Bun.build({ ...options, entrypoints, plugins, splitting: true, metafile: true });
  const early = await Bun.build({
    ...options,
    entrypoints: ["early", ...(isDevelopment ? ["reload"] : [])].map((name) => join(PROJECT, `web/app/${name}.ts`)),
    format: "iife",
  });
  if (!result.success || !early.success)
    throw new AggregateError([...result.logs, ...early.logs], "Bundling the dashboard failed.");
  const getEntry = (entry: string, extension: "js" | "css"): string => {
    const names = [...result.outputs, ...early.outputs]
      .map(({ path }) => basename(path))
      .filter((name) => name.slice(0, name.lastIndexOf("-")) === entry && name.endsWith(`.${extension}`));
    if (names.length !== 1) throw new Error(`The bundle has ${names.length} files ${entry}-*.${extension}, expected 1`);
    return names[0]!;
  };
  const [script, style] = [getEntry("main", "js"), getEntry("app", "css")];
  const first = getEntry("early", "js");
  const styles = new Map(STYLES.map((name) => [name, getEntry(name, "css")]));
  let page = (await Bun.file(join(PROJECT, "web/index.html")).text())
    .replace("/app/early.ts", `/app/${first}`)
    .replace("/app/main.tsx", `/app/${script}`)
    .replace("/app.css", `/app/${style}`);
  for (const [name, file] of styles) page = page.replace(`/${name}.css`, `/app/${file}`);
  const build = result.outputs.map(({ path }) => basename(path)).filter((name) => name.endsWith(".js"));
  const reload = isDevelopment
    ? `<meta name="build" content="${Bun.hash(build.sort().join())}" /><script async src="/app/${getEntry("reload", "js")}"></script></head>`
    : "</head>";
  await Bun.write(join(draft, "index.html"), page.replace("</head>", reload));
  // Imported dynamically, because the compiler checks pages with other options.
  const { PAGE_MODULES: modules, findStyle } = (await import(join(PROJECT, "web/app/page-modules.ts"))) as PageModules;
  const listScripts = readScripts(result.metafile!);
  const signedIn = [...listScripts("web/app/signed-in.tsx"), styles.get("signed-in")!];
  const pages = Object.fromEntries(
    listModules(modules).map(([path, module]) => [
      path,
      [...listScripts(module), styles.get(findStyle(path)!) ?? []].flat(),
    ]),
  );
  await Bun.write(join(draft, "pages.json"), JSON.stringify({ first, script, style, signedIn, pages }));
  await Bun.write(join(draft, "icon.svg"), Bun.file(join(PROJECT, "web/icon.svg")));
  // Servers under test read the folder while a test of releases builds again: it is missing only for a moment.
  const old = `${draft}.old`;
  if (existsSync(folder)) await rename(folder, old);
  await rename(draft, folder);
  await rm(old, { recursive: true, force: true });
}

/**
 * Returns the plugin that copies fonts to `folder`, with their hash in the name. The bundler would write them into the
 * style sheet as `data:`, which delays the first frame and which the policy of the page refuses.
 */
function createFontsPlugin(folder: string): Bun.BunPlugin {
  return {
    name: "fonts",
    setup(build) {
      build.onResolve({ filter: /\.woff2$/ }, async ({ path }) => {
        return { path: await copyWithHash(Bun.resolveSync(path, PROJECT), folder), external: true };
      });
    },
  };
}

/** Copies a file, with its hash in the name. Returns its URL. */
async function copyWithHash(path: string, folder: string): Promise<string> {
  const file = Bun.file(path);
  const hash = Bun.hash
    .wyhash(await file.arrayBuffer())
    .toString(36)
    .slice(0, 8);
  const name = basename(path).replace(".", `-${hash}.`);
  await Bun.write(join(folder, name), file);
  return `/app/${name}`;
}

/** The windows in which layouts change, by the name in `@media (--name)`: browsers have no custom media queries yet. */
const BREAKPOINTS: Record<string, string> = {
  phone: "(max-width: 30rem)",
  /** Shows the library and the tray as on a phone. The same as in `web/app/narrow.ts`. */
  narrow: "(max-width: 43.74rem)",
  tablet: "(max-width: 48rem)",
  compact: "(max-width: 68.74rem)",
  /** The editor scrolls, with its controls at the bottom. */
  dock: "(max-width: 68.74rem) and (max-height: 56.24rem), (max-width: 43.74rem), (max-height: 34.99rem)",
  /** The picture and the timeline are beside the text: below each other, they would leave it no room. */
  low: "(min-width: 35rem) and (max-height: 34.99rem)",
  large: "(min-width: 106.25rem)",
};

function createBreakpointsPlugin(): Bun.BunPlugin {
  return {
    name: "breakpoints",
    setup(build) {
      build.onLoad({ filter: /\/web\/.*\.css$/ }, async ({ path }) => ({
        loader: "css",
        contents: (await Bun.file(path).text()).replaceAll(/@media [^{]*/g, (query) =>
          query.replaceAll(/\(--([a-z]+)\)/g, (name, breakpoint: string) => {
            const found = BREAKPOINTS[breakpoint];
            if (found === undefined) throw new Error(`${path}: unknown breakpoint in ${name}`);
            return found;
          }),
        ),
      }));
    },
  };
}

/** The parts of the bundler's report with a file's imports and its entry module. */
type BundleReport = {
  outputs: Record<string, { entryPoint?: string; imports: { path: string; kind: string }[] }>;
};

/** Import functions of the pages by path, and the styles that a page needs. */
type PageModules = { PAGE_MODULES: Record<string, () => unknown>; findStyle(path: string): string };

/** Returns a function that lists the names of the files of a module that is loaded later. */
function readScripts(report: BundleReport): (module: string) => string[] {
  const files = new Map(Object.entries(report.outputs).map(([path, output]) => [basename(path), output]));
  const collect = (name: string, found: Set<string>): Set<string> => {
    const file = files.get(name);
    if (file === undefined || found.has(name) || file.entryPoint?.endsWith("/main.tsx")) return found;
    found.add(name);
    for (const { path, kind } of file.imports) if (kind === "import-statement") collect(basename(path), found);
    return found;
  };
  return (module) => {
    const entry = [...files].find(([, { entryPoint }]) => entryPoint === module);
    if (entry === undefined) throw new Error(`The bundle has no file for ${module}`);
    return [...collect(entry[0], new Set())];
  };
}

/** Returns the module of each page, by its path. Those of administration are not for everybody, and are left out. */
function listModules(modules: PageModules["PAGE_MODULES"]): [string, string][] {
  const transpiler = new Bun.Transpiler({ loader: "ts" });
  return Object.entries(modules).map(([path, load]) => {
    const module = transpiler.scanImports(`(${load})()`)[0]!.path;
    return [path, `${resolve("/web/app", module).slice(1)}.tsx`];
  });
}

if (import.meta.main) {
  const started = performance.now();
  await bundleWeb();
  console.log(`${WEB_FOLDER}: bundled in ${Math.round(performance.now() - started)} ms`);
}
