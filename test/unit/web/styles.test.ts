/**
 * Style sheets are loaded with the components that need them, so a component can use only classes of the sheets that
 * are loaded with it.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";

const WEB = join(import.meta.dir, "../../../web");

/** The sheets that are loaded with the components of a folder. */
const LOADED: Record<string, string[]> = {
  "app/*.tsx": ["app"],
  "pages/sign-in/*.tsx": ["app"],
  "ui/{button,copy-field,dialog,form,page,section,states}.tsx": ["app"],
  "shell/{brand,toasts}.tsx": ["app", "editor"],
  "shell/*.tsx": ["app", "signed-in", "editor"],
  "pages/projects/project*.tsx": ["app", "signed-in"],
  "pages/projects/{choose-project,cut-settings,first-minute,pinned-projects}.tsx": ["app", "signed-in", "pages"],
  "upload/*.tsx": ["app", "signed-in", "pages"],
  "pages/{account,credits,device,jobs,keys,notifications,order,project,status,webhooks,workspaces}/**/*.tsx": [
    "app",
    "signed-in",
    "pages",
  ],
  "pages/admin/**/*.tsx": ["app", "signed-in", "admin"],
  "pages/asset/**/*.tsx": ["app", "signed-in", "editor"],
  "editor/**/*.tsx": ["app", "signed-in", "editor"],
};

const read = (path: string): Promise<string> => Bun.file(join(WEB, path)).text();

const listFiles = async (sheet: string): Promise<string[]> =>
  [...(await read(`${sheet}.css`)).matchAll(/@import "\.\/([^"]+)"/g)].map(([, path]) => path!);

async function readClasses(sheet: string): Promise<Set<string>> {
  const texts = await Promise.all((await listFiles(sheet)).map(read));
  return new Set(texts.flatMap((text) => [...text.matchAll(/\.([a-z][a-z0-9-]*)/g)].map(([, name]) => name!)));
}

/** Returns the words of the texts in attributes with classes. */
const listWords = (source: string): string[] =>
  [...source.matchAll(/\bclass=(?:("[^"]*")|\{([^}]*)\})/g)]
    .flatMap(([, text, expression]) => (text ?? expression!).match(/"[^"]*"|`[^`]*`/g) ?? [])
    .flatMap((text) => text.match(/[a-z][a-z0-9-]+/g) ?? []);

const SHEETS = ["app", "signed-in", "pages", "admin", "editor"];

test("no sheet overrides another one's rules for a class, because all stay once they are loaded", async () => {
  const files = new Set((await Promise.all(SHEETS.map(listFiles))).flat());
  const places = new Map<string, Set<string>>();
  for (const file of files)
    for (const [, selectors] of (await read(file)).matchAll(/^(\.[^{}@]+)\{/gm))
      for (const selector of selectors!
        .replaceAll(/\([^()]*\)/g, "")
        .split(",")
        .map((one) => one.trim()))
        if (/^\.[\w-]+$/.test(selector)) places.set(selector, (places.get(selector) ?? new Set()).add(file));
  expect(places.size).toBeGreaterThan(300);
  expect([...places].filter(([, found]) => found.size > 1)).toEqual([]);
});

test("components use only classes that are loaded with them", async () => {
  const sheets = Object.fromEntries(
    await Promise.all(SHEETS.map(async (name) => [name, await readClasses(name)] as const)),
  );
  const known = new Set(SHEETS.flatMap((name) => [...sheets[name]!]));
  expect(known.size).toBeGreaterThan(300);
  const missing: string[] = [];
  for (const [pattern, loaded] of Object.entries(LOADED)) {
    const paths = [...new Glob(pattern).scanSync(WEB)];
    expect([pattern, paths.length > 0]).toEqual([pattern, true]);
    for (const path of paths)
      for (const word of new Set(listWords(await read(path))))
        if (known.has(word) && !loaded.some((name) => sheets[name]!.has(word))) missing.push(`${path}: ${word}`);
  }
  expect(missing).toEqual([]);
});
