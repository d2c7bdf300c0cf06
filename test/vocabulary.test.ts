/** One word for one thing: names that the sources must not use, and type names that must be unique. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import ts from "typescript-5";

const SOURCE = join(import.meta.dir, "../src");
const WEB = join(import.meta.dir, "../web");

/** Words that a standard term replaces, in any form of an identifier: `soundTrack`, `SOUND_RATE` and `sound`. */
const REPLACED_WORDS: Record<string, string> = {
  anew: "randomAccessPoint",
  echo: "retake, falseStart or repetition",
  echoes: "retakes, falseStarts or repetitions",
  hear: "transcribe",
  heard: "transcript, or recognized",
  hearing: "transcript",
  hears: "transcribes",
  hesitation: "filler or disfluency",
  hesitations: "fillers or disfluencies",
  island: "speechRegion",
  islands: "speechRegions",
  lane: "semaphore, or writer",
  lanes: "Semaphore",
  shelf: "installed-models",
  sound: "audio",
  sounds: "audio",
  telling: "event",
  told: "sent, emitted or reported",
};

/** Identifiers that a standard term replaces as a whole. */
const REPLACED_NAMES: Record<string, string> = {
  GaveWay: "JobYielded",
  asBeginning: "a name from ITU-T H.265",
  atHome: "inPadding",
  beside: "a function name with a verb",
  Forced: "ForcedAlignment",
  Listening: "Recognition or Transcript",
  exactly: "strictObject",
  masked: "a function name with a verb",
  once: "withIdempotencyKey",
  picture: "video or videoFrame",
  pictures: "video or videoFrames",
  shows: "respondsWith",
  tell: "emitEvent",
  usable: "isUsable",
};

/** Names of Node.js, browsers and file formats that hold such a word. */
const FOREIGN = new Set(["once"]);

/** Terms of a file format, allowed in the file that writes it: FCPXML has an attribute `lane`. */
const FORMAT_TERMS: Record<string, string> = { "domain/timeline/fcpxml.ts": "lane" };

/** Bounds are `MAX_…` or `MIN_…`. */
const BOUND = /^(MOST|LONGEST|SHORTEST|LARGEST|SMALLEST|FEWEST)_|_(AT_MOST|AT_LEAST|LEAST|MOST)$/;

type Source = { file: string; text: string };

/**
 * Returns each identifier of a TypeScript text once, without those in strings and comments, templates' expressions
 * included.
 */
function identifiersOf(text: string): string[] {
  const transpiled = text
    .replace(/\/\*[\s\S]*?\*\//g, " ")
    .replace(/(^|[^:"'`\\])\/\/.*$/gm, "$1")
    .replace(/\/(?:[^/\\\n]|\\.)+\/[dgimsuvy]+/g, "")
    .replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""')
    .replace(/`(?:[^`\\]|\\.)*`/g, (template) =>
      [...template.matchAll(/\$\{([^}]*)\}/g)].map((part) => part[1]).join(" "),
    );
  return [...new Set(transpiled.match(/[A-Za-z_$][\w$]*/g) ?? [])];
}

/** `soundTrack`, `SOUND_TRACK`, `sound-track` -> sound, track. */
const wordsOf = (name: string) =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .split(/[^A-Za-z]+/)
    .map((word) => word.toLowerCase());

/** Returns each replaced name as `file: name: write …`. `file` is relative to `src/`. */
function replacedNames({ file, text }: Source): string[] {
  const parts = file.replace(/\.ts$/, "").split("/");
  return [...parts, ...identifiersOf(text)].flatMap((name) => {
    if (own(FORMAT_TERMS, file) === name) return [];
    const instead =
      (FOREIGN.has(name) ? undefined : own(REPLACED_NAMES, name)) ??
      wordsOf(name)
        .map((word) => own(REPLACED_WORDS, word))
        .find((found) => found !== undefined) ??
      (BOUND.test(name) ? "MAX_… or MIN_…" : undefined);
    return instead === undefined ? [] : [`${file}: ${name}: write ${instead}`];
  });
}

const own = (words: Record<string, string>, word: string) => (Object.hasOwn(words, word) ? words[word] : undefined);

/** Returns each type, interface, class and enum that is declared in more than one place, as `name: files`. */
function duplicateTypes(sources: Source[]): string[] {
  const places = new Map<string, string[]>();
  for (const { file, text } of sources)
    for (const match of text.matchAll(
      /^\s*(?:export )?(?:declare )?(?:abstract )?(?:type|interface|class|enum) (\w+)[ <={]/gm,
    ))
      places.set(match[1]!, [...(places.get(match[1]!) ?? []), file]);
  return [...places].filter(([, files]) => files.length > 1).map(([name, files]) => `${name}: ${files.join(", ")}`);
}

/**
 * Returns whether a declared type has null or undefined, also of a promise; null for a generator, whose end is neither.
 */
function isNullable(type: ts.TypeNode): boolean | null {
  if (ts.isTypeReferenceNode(type) && ts.isIdentifier(type.typeName)) {
    if (type.typeName.text.endsWith("Generator")) return null;
    const [inner] = type.typeArguments ?? [];
    return type.typeName.text === "Promise" && inner ? isNullable(inner) : false;
  }
  if (ts.isUnionTypeNode(type)) return type.types.some(isNullable);
  const isNull = ts.isLiteralTypeNode(type) && type.literal.kind === ts.SyntaxKind.NullKeyword;
  return isNull || type.kind === ts.SyntaxKind.UndefinedKeyword;
}

/**
 * Returns whether a function throws an error of its own: not one that it has caught, and not in a function inside it.
 */
const throwsItself = (node: ts.Node): boolean =>
  ts.isThrowStatement(node) ||
  (ts.forEachChild(node, (child) => !ts.isFunctionLike(child) && !ts.isCatchClause(child) && throwsItself(child)) ??
    false);

/**
 * Returns the functions and methods that contradict the rule "`getX` throws, `findX` returns null", as `file: name`.
 */
function misnamedReaders({ file, text }: Source): string[] {
  const wrong: string[] = [];
  const check = (name: ts.Node | undefined, one: ts.SignatureDeclaration) => {
    if (!name || !ts.isIdentifier(name) || !one.type) return;
    const nullable = isNullable(one.type);
    const isGet = /^get[A-Z]/.test(name.text) && nullable === true;
    const isFind = /^find[A-Z]/.test(name.text) && nullable === false && throwsItself(one);
    if (isGet || isFind) wrong.push(`${file}: ${name.text}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionDeclaration(node) || ts.isMethodSignature(node) || ts.isMethodDeclaration(node))
      check(node.name, node);
    const value = ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node) ? node.initializer : undefined;
    if (value && (ts.isArrowFunction(value) || ts.isFunctionExpression(value)))
      check((node as ts.VariableDeclaration | ts.PropertyAssignment).name, value);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  return wrong;
}

const readSources = (folder: string, pattern: string): Promise<Source[]> =>
  Promise.all(
    [...new Glob(pattern).scanSync(folder)]
      .sort()
      .map(async (file) => ({ file, text: await Bun.file(join(folder, file)).text() })),
  );

const sources = await readSources(SOURCE, "**/*.ts");

test("the sources use the standard terms", () => {
  expect(sources.length).toBeGreaterThan(10);
  expect(sources.flatMap(replacedNames)).toEqual([]);
});

test("a type name stands for one type", () => {
  expect(duplicateTypes(sources)).toEqual([]);
});

test("getX throws, findX returns null", async () => {
  const web = await readSources(WEB, "**/*.{ts,tsx}");
  expect([...sources, ...web].flatMap(misnamedReaders)).toEqual([]);
});

describe("the rule itself", () => {
  const wrong: [string, string][] = [
    ["a type", "export type Lanes = { use(): void };"],
    ["a word inside a name", "const isSoundOnly = true;"],
    ["a constant", "const SOUND_RATE = 16_000;"],
    ["a bound", "const LONGEST_PAUSE_MS = 500;"],
    ["a whole name", "const exactly = 1;"],
    ["a name in a template", "const x = `${atHome}`;"],
  ];
  test.each(wrong)("finds: %s", (_, text) => {
    expect(replacedNames({ file: "domain/time.ts", text })).toHaveLength(1);
  });
  test("finds: a file name", () => {
    expect(replacedNames({ file: "speech/models/shelf.ts", text: "" })).toHaveLength(1);
  });

  test("allows a term of a file format only in its file", () => {
    const text = "const { lane } = place;";
    expect(replacedNames({ file: "domain/timeline/fcpxml.ts", text })).toEqual([]);
    expect(replacedNames({ file: "store/db.ts", text })).toHaveLength(1);
  });

  const right: [string, string][] = [
    ["a string", 'const kind = "sound";'],
    ["a comment", "// sound\n/* echoes */"],
    ["a text template", "const x = `the sound of ${name}`;"],
    ["a longer word", "const foresight = soundness;"],
  ];
  test.each(right)("allows: %s", (_, text) => {
    expect(replacedNames({ file: "domain/time.ts", text })).toEqual([]);
  });

  test("finds a type that is declared twice", () => {
    const twice = ["work/a.ts", "store/b.ts"].map((file) => ({ file, text: "type Row = { id: string };" }));
    expect(duplicateTypes(twice)).toEqual(["Row: work/a.ts, store/b.ts"]);
  });

  test.each([
    ["function getUser(id: string): User | null { return null; }", true],
    ["const getUser = async (id: string): Promise<User | undefined> => undefined;", true],
    ["type Users = { getUser(id: string): Promise<User | null> };", true],
    ["function findUser(id: string): User { if (!id) throw new Error(); return users[id]; }", true],
    ["const users = { findUser: async (id: string): Promise<User> => { throw new Error(); } };", true],
    ["function getUser(id: string): User { throw new Error(); }", false],
    ["function getUsers(): (User | null)[] { return []; }", false],
    ["function findUser(id: string): User | null { if (!id) throw new Error(); return null; }", false],
    ["function findIndex(ids: string[]): number { return 0; }", false],
    ["function findUsers(): string[] { try { return read(); } catch (error) { throw error; } }", false],
    ["async function* findUsers(): AsyncGenerator<User> { throw new Error(); }", false],
    ["const findUser = (): User => users.map(() => { throw new Error(); });", false],
  ])("%s: %p", (text, isWrong) => {
    expect(misnamedReaders({ file: "x.ts", text })).toHaveLength(isWrong ? 1 : 0);
  });
});
