/**
 * The served OpenAPI documents against their snapshots. Prints the changes, and fails on breaking ones that are not
 * listed. `OFFCUT_UPDATE_SNAPSHOT=1` accepts the allowed changes.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { type Harness, harness } from "../http/harness";
import { temporaryFolder } from "../temporary-folder";
import type { ComparedDocument } from "./openapi-diff";
import { type AcceptedChange, judgeDocument, readEarlierSnapshot, SNAPSHOTS } from "./openapi-snapshots";

setDefaultTimeout(60_000);

const FOLDER = import.meta.dir;
const LIST = join(FOLDER, "breaking-changes.json");
const isUpdate = process.env.OFFCUT_UPDATE_SNAPSHOT === "1";

const format = (value: unknown): string => `${JSON.stringify(value, null, 1)}\n`;
const readList = async (): Promise<AcceptedChange[]> => Bun.file(LIST).json();

describe("the served document", () => {
  let server: Harness;
  beforeAll(async () => {
    server = await harness();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each(SNAPSHOTS)("$document breaks no promise of its snapshot", async ({ document, file }) => {
    const served = await server.nobody.must<ComparedDocument>("GET", document);
    const path = join(FOLDER, file);
    if (isUpdate && !(await Bun.file(path).exists())) await Bun.write(path, format(served));
    const snapshot: ComparedDocument = await Bun.file(path).json();
    const before = readEarlierSnapshot(FOLDER, file, served);
    const list = await readList();
    const own = list.filter((entry) => entry.document === document);
    if (isUpdate) {
      const { problems, used } = judgeDocument({ before, snapshot: served, served }, own);
      const refused = problems.filter((problem) => !problem.includes("lists a change that was not made"));
      expect([document, refused]).toEqual([document, []]);
      await Bun.write(path, format(served));
      await Bun.write(LIST, format(list.filter((entry) => entry.document !== document || used.includes(entry))));
      return;
    }
    const { changes, problems } = judgeDocument({ before, snapshot, served }, own);
    const lines = changes.map(({ kind, what }) => `  ${kind}: ${what}`);
    console.log([`${document}: ${changes.length} changes since the last accepted version`, ...lines].join("\n"));
    expect([document, problems]).toEqual([document, []]);
  });

  test("breaking-changes.json names documents that have a snapshot", async () => {
    const names = (await readList()).map(({ document }) => document);
    expect(names.filter((name) => !SNAPSHOTS.some(({ document }) => document === name))).toEqual([]);
  });
});

type Named = { paths: Record<string, Record<string, object>> };

/** A document with these paths. */
const withPaths = (...paths: string[]): Named => ({
  paths: Object.fromEntries(paths.map((path) => [path, { get: { operationId: path } }])),
});

const REMOVED = "/b: path removed";
const entry = (change = REMOVED, reason = "nobody uses it"): AcceptedChange => ({ document: "/x", change, reason });
const judge = (before: Named | null, snapshot: Named, served: Named, listed: AcceptedChange[] = []) =>
  judgeDocument({ before, snapshot, served }, listed).problems.map((problem) => problem.replace(/[:.].*/, ""));

describe("a document is accepted", () => {
  const [a, ab] = [withPaths("/a"), withPaths("/a", "/b")];

  test("if nothing changed, with and without history", () => {
    expect(judge(ab, ab, ab)).toEqual([]);
    expect(judge(null, ab, ab)).toEqual([]);
  });

  test("with an addition, once the snapshot has it", () => {
    expect(judge(a, a, ab)).toEqual(["snapshot is not up to date"]);
    expect(judge(a, ab, ab)).toEqual([]);
    expect(judge(a, ab, a)).toEqual(["snapshot is not up to date"]);
  });

  test("with a breaking change, if it is listed, whether or not the snapshot was updated", () => {
    const unlisted = "breaking change that breaking-changes";
    expect(judge(ab, ab, a)).toEqual([unlisted]);
    expect(judge(ab, a, a)).toEqual([unlisted]);
    expect(judge(null, ab, a)).toEqual([unlisted]);
    expect(judge(ab, ab, a, [entry()])).toEqual([]);
    expect(judge(ab, a, a, [entry()])).toEqual([]);
    expect(judge(null, a, a, [entry()])).toEqual([]);
  });

  test("if the list is true and has reasons", () => {
    expect(judge(ab, ab, ab, [entry()])).toEqual(["breaking-changes"]);
    expect(judge(ab, a, a, [entry(), entry("/c: path removed")])).toEqual(["breaking-changes"]);
    expect(judge(ab, a, a, [entry(REMOVED, " ")])).toEqual(["breaking-changes"]);
  });
});

test("the history of a snapshot: the last commit while something changes, then what was before the last change", async () => {
  await using folder = await temporaryFolder();
  const file = "a.json";
  const git = (...command: string[]) => {
    const settings = ["-c", "user.name=a", "-c", "user.email=a@example.test", "-c", "commit.gpgsign=false"];
    expect(Bun.spawnSync(["git", ...settings, ...command], { cwd: folder.path }).exitCode).toBe(0);
  };
  const save = (document: Named) => Bun.write(join(folder.path, file), format(document));
  const commit = () => {
    git("add", "-A");
    git("commit", "--quiet", "--no-verify", "--allow-empty", "-m", "x");
  };
  const [first, second, third] = [withPaths("/a"), withPaths("/a", "/b"), withPaths("/a", "/b", "/c")];
  const read = (served: Named) => readEarlierSnapshot(folder.path, file, served);

  await save(first);
  expect(read(first)).toBeNull();
  git("init", "--quiet");
  commit();
  expect(read(first)).toBeNull();
  expect(read(second)).toEqual(first);
  await save(second);
  expect(read(second)).toEqual(first);
  commit();
  expect(read(second)).toEqual(first);
  commit();
  expect(read(second)).toEqual(first);
  expect(read(third)).toEqual(second);
});
