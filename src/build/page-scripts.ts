/** Finds the files of the bundle that each dashboard page uses, besides the entry script. */
import { basename, join } from "node:path";

/** The parts of the bundler's report with a file's imports and its entry module. */
export type BundleReport = {
  outputs: Record<string, { entryPoint?: string; imports: { path: string; kind: string }[] }>;
};

/** A line of the table of pages: `"/jobs": lazyPage(() => import("../pages/jobs/jobs-page")),`. Those of administration are not for everybody. */
const LAZY_PAGE = /^ {2}"(\/[^"]*)": lazyPage\(\(\) => import\("\.\.\/([^"]+)"\)\),$/gm;

/** Returns the names of the files of each page, by its path. `routes` is the source of the table of pages. Other pages have none. */
export function listPageScripts(report: BundleReport, routes: string): Record<string, string[]> {
  const files = new Map(Object.entries(report.outputs).map(([path, output]) => [basename(path), output]));
  const collect = (name: string, found: Set<string>): Set<string> => {
    const file = files.get(name);
    if (file === undefined || found.has(name) || file.entryPoint?.endsWith("/main.tsx")) return found;
    found.add(name);
    for (const { path, kind } of file.imports) if (kind === "import-statement") collect(basename(path), found);
    return found;
  };
  const pages = [...routes.matchAll(LAZY_PAGE)].map(([, path, module]): [string, string[]] => {
    const entry = [...files].find(([, { entryPoint }]) => entryPoint === join("web", `${module}.tsx`));
    if (entry === undefined) throw new Error(`The bundle has no file for the page ${path}`);
    return [path!, [...collect(entry[0], new Set())]];
  });
  return Object.fromEntries(pages);
}
