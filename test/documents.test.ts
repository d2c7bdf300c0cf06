/** The documents name files and settings that exist. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { SETTINGS } from "../src/config/settings";

const ROOT = join(import.meta.dir, "..");
const DOCUMENTS = [
  "README.md",
  ".github/CONTRIBUTING.md",
  ".github/SECURITY.md",
  ".github/CHANGELOG.md",
  "src/README.md",
  "src/domain/planning/README.md",
  "test/bench/README.md",
  ...[...new Glob("src/http/guide/*.md").scanSync(ROOT)].sort(),
];

const read = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text();

/** Matches texts that look like the path of a source file or folder: a name with a slash or a file extension. */
const PATH = /^(?:[\w.-]+\/)+[\w.<>*-]*$|^[\w.-]+\.(?:tsx?|sql|md|css|json|sh)$/;

/** Placeholders stand for some file: `http/public/<resource>.ts`. */
const toPattern = (path: string): string => path.replace(/<[^>]+>/g, "*");

const EVERY_FILE = [...new Glob("{src,web,test,migrations,.github,.ci}/**/*").scanSync({ cwd: ROOT, dot: true })];
const ROOT_FILES = [...new Glob("*").scanSync({ cwd: ROOT, dot: true })];
const FILES = [...EVERY_FILE, ...ROOT_FILES];
/** Files that the build or a release writes. */
const WRITTEN = /^(dist|release)\b|^offcut-(before|after)/;

/** Returns whether a file or folder has this path below the root, `src/` or, for a part of a path, any folder. */
function existsSomewhere(path: string): boolean {
  const pattern = toPattern(path).replace(/^(?:\.\.?\/)+|\/$/g, "");
  const matches = ["", "src/", "**/"].flatMap((start) => [
    new Glob(`${start}${pattern}`),
    new Glob(`${start}${pattern}/**`),
    // Names of tests without their ending.
    new Glob(`${start}${pattern}{-*,}.test.ts`),
  ]);
  return FILES.some((file) => matches.some((glob) => glob.match(file)));
}

/** Returns the paths in backticks, without those of the server, of machines, and of examples. */
const listPaths = (text: string): string[] =>
  [...text.replace(/^```.*?^```$/gms, "").matchAll(/`([^`\n]+)`/g)]
    .map((match) => match[1]!)
    .filter((name) => PATH.test(name) && !WRITTEN.test(name));

describe("of the sources", () => {
  test.each(["README.md", "src/README.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md"])(
    "%s names paths that exist",
    async (document) => {
      const paths = listPaths(await read(document));
      expect(paths.length).toBeGreaterThan(0);
      expect(paths.filter((path) => !existsSomewhere(path))).toEqual([]);
    },
  );

  test("src/README.md names functions, types and tables that exist", async () => {
    const text = (await read("src/README.md")).replace(/^```.*?^```$/gms, "");
    const names = [...text.matchAll(/`([a-z]+[A-Z]\w*|[A-Z][A-Z\d]*_[A-Z_\d]+|[A-Z][a-z]+[A-Z]\w*)`/g)].map(
      (m) => m[1]!,
    );
    expect(names.length).toBeGreaterThan(30);
    const sources = EVERY_FILE.filter((file) => /\.(tsx?|sh)$/.test(file) && file !== "test/documents.test.ts");
    const words = new Set<string>();
    for (const file of [...sources, "install.sh"])
      for (const [word] of (await read(file)).matchAll(/[A-Za-z_]\w*/g)) words.add(word);
    expect(names.filter((name) => !words.has(name))).toEqual([]);
  });

  test("a path that does not exist is found", () => {
    expect(listPaths("`work/mail-templates/` and `boot.ts`, `/v1`, `offcut cut`")).toEqual([
      "work/mail-templates/",
      "boot.ts",
    ]);
    expect(existsSomewhere("work/mail-templates/")).toBe(false);
    expect(existsSomewhere("boot.ts")).toBe(true);
    expect(existsSomewhere("http/public/<resource>.ts")).toBe(true);
  });
});

test.each(DOCUMENTS)("the links of %s lead somewhere", async (document) => {
  const text = await read(document);
  const links = [...text.matchAll(/(?:\]\(|src=")([^)"\s]+)[)"]/g)].map((match) => match[1]!);
  const broken: string[] = [];
  for (const link of links.filter((one) => !/^https?:/.test(one))) {
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? document : join(dirname(document), path);
    if (!existsSync(join(ROOT, target))) broken.push(link);
    else if (anchor !== undefined && anchor !== "reference" && !listAnchors(await read(target)).includes(anchor))
      broken.push(link);
  }
  expect(broken).toEqual([]);
});

/** Returns the anchors of the headings, as GitHub makes them. */
const listAnchors = (text: string): string[] =>
  [...text.replace(/^```.*?^```$/gms, "").matchAll(/^#+ (.*)$/gm)].map((match) =>
    match[1]!
      .toLowerCase()
      .replace(/[^\w\s-]/g, "")
      .replaceAll(" ", "-"),
  );

test("the README lists every setting", async () => {
  const table = (await read("README.md")).split("\n").filter((line) => line.startsWith("| `"));
  const listed = new Set(table.flatMap((line) => [...line.split("|")[1]!.matchAll(/`(\w+)`/g)].map((m) => m[1]!)));
  expect(Object.keys(SETTINGS).filter((key) => !listed.has(key))).toEqual([]);
});
