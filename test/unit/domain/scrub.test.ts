import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  type AssetFiles,
  findChange,
  findShortfall,
  findTracked,
  getQuarter,
  isDue,
  listTrackedFiles,
  parseCheckedPath,
  toWeek,
} from "../../../src/domain/scrub";

const WEEK_MS = 7 * 24 * 3600 * 1000;
const NOW = Date.parse("2027-02-03T12:00:00Z");
const file = (n: number) => `media/0190aaaa-0000-7000-8000-${String(n).padStart(12, "0")}/source`;

test("weeks begin on Monday, in UTC", () => {
  const at = (time: string) => toWeek(Date.parse(time));
  expect(at("2027-02-01T00:00:00Z")).toBe(at("2027-02-07T23:59:59Z"));
  expect(at("2027-01-31T23:59:59Z")).toBe(at("2027-02-01T00:00:00Z") - 1);
});

test("a quarter has about a quarter of all files", () => {
  const counts = [0, 0, 0, 0];
  for (let n = 0; n < 4_000; n++) counts[getQuarter(file(n))]!++;
  for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(120);
});

/**
 * Runs a pass in each of these weeks, at this moment of it, and returns the weeks in which each file was read. Files
 * appear in their week.
 */
function simulate(
  files: { path: string; appears: number }[],
  passes: { week: number; moment: number }[],
): Map<string, number[]> {
  const readIn = new Map<string, number[]>(files.map(({ path }) => [path, []]));
  const checkedAt = new Map<string, number>();
  for (const { week, moment } of passes) {
    const now = NOW + week * WEEK_MS + moment;
    const since = checkedAt.size === 0 ? null : Math.min(...checkedAt.values());
    for (const { path, appears } of files) {
      if (appears > week || !isDue(path, { checkedAt: checkedAt.get(path) ?? null, since, now })) continue;
      checkedAt.set(path, now);
      readIn.get(path)!.push(week);
    }
  }
  return readIn;
}

const paths = fc.uniqueArray(fc.nat(100_000), { minLength: 1, maxLength: 40 }).map((numbers) => numbers.map(file));
const moment = fc.nat(24 * 3600 * 1000);

test("with a pass each week every file is read in any four weeks, and old ones only once", () => {
  fc.assert(
    fc.property(
      paths,
      fc.array(fc.nat(8), { minLength: 40, maxLength: 40 }),
      fc.array(moment, { minLength: 20, maxLength: 20 }),
      (names, weeks, moments) => {
        const files = names.map((path, n) => ({ path, appears: weeks[n % weeks.length]! }));
        const readIn = simulate(
          files,
          moments.map((at, week) => ({ week, moment: at })),
        );
        for (const { path, appears } of files)
          for (let from = appears; from + 4 <= moments.length; from++) {
            const inWindow = readIn.get(path)!.filter((week) => week >= from && week < from + 4);
            // A new file is also read when it appears.
            const [first = 0] = readIn.get(path)!;
            expect(inWindow).not.toBeEmpty();
            if (from > first) expect(inWindow).toHaveLength(1);
          }
      },
    ),
  );
});

test("a pass makes up for the weeks in which there was none", () => {
  fc.assert(
    fc.property(
      paths,
      fc.subarray(
        Array.from({ length: 12 }, (_, n) => n + 5),
        { minLength: 1 },
      ),
      (names, later) => {
        const weeks = [0, 1, 2, 3, 4, ...later];
        const readIn = simulate(
          names.map((path) => ({ path, appears: 0 })),
          weeks.map((week) => ({ week, moment: 0 })),
        );
        // Each path was last read in the newest week of the file, or after it.
        for (const path of names)
          for (const week of weeks.filter((each) => each >= 4))
            expect(week - readIn.get(path)!.findLast((each) => each <= week)!).toBeLessThan(4 + gapBefore(weeks, week));
      },
    ),
  );
  // A file whose week was missed is read by the next pass.
  const path = file(1);
  const [missed] = [0, 1, 2, 3].filter(
    (week) => simulate([{ path, appears: 0 }], [{ week, moment: 0 }]).get(path)!.length > 0,
  );
  const passes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    .filter((week) => week !== missed! + 4)
    .map((week) => ({ week, moment: 0 }));
  expect(simulate([{ path, appears: 0 }], passes).get(path)).toEqual(
    [missed!, missed! + 5, missed! + 8].filter((w) => w <= 9),
  );
});

/** The weeks without a pass directly before this one. */
const gapBefore = (weeks: number[], week: number): number => week - (weeks.findLast((each) => each < week) ?? week) - 1;

test("a second pass of a week reads nothing again", () => {
  const files = Array.from({ length: 50 }, (_, n) => ({ path: file(n), appears: 0 }));
  const readIn = simulate(files, [
    { week: 0, moment: 0 },
    { week: 0, moment: 1_000 },
  ]);
  const counts = [...readIn.values()].map((weeks) => weeks.length);
  expect(Math.max(...counts)).toBe(1);
  // The first pass of a server reads a quarter, and not everything.
  expect(counts.filter((count) => count === 1).length).toBeLessThan(25);
});

const asset = (change: Partial<AssetFiles> = {}): AssetFiles => ({
  ...{ kind: "asset", id: "0190aaaa-0000-7000-8000-000000000000", assetKind: "source", state: "ready", bytes: 100 },
  ...{ hasProbed: true, hasTranscript: false, hasPoster: true, hasWaveform: false },
  ...change,
});
const required = (owner: AssetFiles) =>
  listTrackedFiles(owner)!.flatMap(({ name, isRequired }) => (isRequired ? [name] : []));

test.each([
  [asset(), ["source", "probed.json", "poster.jpg"]],
  [
    asset({ state: "pending_payment", hasTranscript: true }),
    ["source", "probed.json", "transcript.json", "poster.jpg"],
  ],
  [asset({ state: "processing" }), ["source"]],
  [asset({ state: "failed" }), []],
  [asset({ assetKind: "cut_file", hasPoster: false }), ["source"]],
])("what must exist depends on the state of the recording: %#", (owner, names) => {
  expect(required(owner)).toEqual(names);
});

test("nothing is known of folders that are being written to", () => {
  expect(listTrackedFiles(asset({ state: "pending_upload" }))).toBeNull();
  const render = { kind: "render", id: "r", bytes: 5, format: "mp4" } as const;
  expect(listTrackedFiles({ ...render, state: "processing" })).toBeNull();
  expect(listTrackedFiles({ ...render, state: "completed" })).toEqual([
    { name: "output.mp4", role: "fixed", isRequired: true, bytes: 5 },
  ]);
});

test("previews may be written again, and other names are untracked", () => {
  const tracked = listTrackedFiles(asset())!;
  expect(findTracked(tracked, "preview.json")?.role).toBe("remade");
  expect(findTracked(tracked, "storyboard-0001.jpg")?.role).toBe("remade");
  for (const name of ["source.bak", "storyboard-1.jpg", ".DS_Store", "source.0190.part"])
    expect(findTracked(tracked, name)).toBeNull();
});

const facts = (sha256: string | null, bytes = 100, modified_at = 1) => ({ sha256, bytes, modified_at });
const read = (sha256: string | null, bytes = 100, modified_at = 1, error: string | null = null) => ({
  ...facts(sha256, bytes, modified_at),
  error,
});
const source = { role: "fixed", bytes: 100 } as const;
const preview = { role: "remade", bytes: null } as const;
const nothing = { recorded: null, inBackup: null };

test.each([
  ["first reading", source, read("a"), nothing, null],
  ["the same content", source, read("a"), { ...nothing, recorded: facts("a") }, null],
  ["a copy with another time", source, read("a", 100, 2), { ...nothing, recorded: facts("a") }, null],
  ["bit rot", source, read("b"), { ...nothing, recorded: facts("a") }, /damaged/],
  ["bit rot of a preview", preview, read("b"), { ...nothing, recorded: facts("a") }, /damaged/],
  ["a preview that was made again", preview, read("b", 90, 2), { ...nothing, recorded: facts("a") }, null],
  ["a change", source, read("b", 100, 2), { ...nothing, recorded: facts("a") }, /changed/],
  ["a truncation", source, read("b", 40, 2), { ...nothing, recorded: facts("a") }, /Has 40 bytes, expected 100/],
  ["a truncation before the first reading", source, read("b", 40), nothing, /Has 40 bytes/],
  ["another content in the backup", source, read("b"), { ...nothing, inBackup: facts("a") }, /backup/],
  ["another file in the backup", source, read("b"), { ...nothing, inBackup: facts("a", 100, 7) }, null],
  ["a bad sector", source, read(null, 100, 1, "EIO"), { ...nothing, recorded: facts("a") }, /EIO/],
  ["an accepted size", source, read("b", 40), { ...nothing, recorded: facts("b", 40) }, null],
] as const)("comparing %s", (_, tracked, found, known, detail) => {
  const finding = findChange(tracked, found, known);
  if (detail === null) expect(finding).toBeNull();
  else expect(finding).toEqual({ problem: "changed", detail: expect.stringMatching(detail) });
});

test("sizes that differ by less than their formatted value are shown in bytes", () => {
  expect(findChange({ role: "fixed", bytes: 5_000_001 }, read("a", 5_000_000), nothing)?.detail).toBe(
    "Has 5000000 bytes, expected 5000001.",
  );
});

test.each([
  [{ duration: 60, frames: 600 }, { seconds: 59, frames: 590 }, null],
  [{ duration: 60, frames: 600 }, { seconds: 30, frames: 600 }, /30 of 60 seconds/],
  [{ duration: 60, frames: 600 }, { seconds: 60, frames: 300 }, /300 of 600 frames/],
  [{ duration: 3_600, frames: null }, { seconds: 3_540, frames: 0 }, null],
  [{ duration: null, frames: null }, { seconds: 0, frames: 0 }, null],
])("a decoder that ends early: %#", (expected, decoded, problem) => {
  const found = findShortfall(expected, decoded);
  if (problem === null) expect(found).toBeNull();
  else expect(found).toMatch(problem);
});

test("paths name one file or folder below the three folders", () => {
  expect(parseCheckedPath("media/a/source")).toEqual({ folder: "media", owner: "a", name: "source" });
  expect(parseCheckedPath("uploads/a")).toEqual({ folder: "uploads", owner: "a", name: null });
  const hostile = [
    "",
    "media",
    "media/",
    "media/..",
    "media/../x",
    "media/a/../b",
    "media/a/b/c",
    "/etc/passwd",
    "../media/a/b",
  ];
  for (const path of [...hostile, "media//x", "media/a/.", "media/a/..", "trash/a", "offcut.db", "media/a\0/b"])
    expect(parseCheckedPath(path)).toBeNull();
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const parsed = parseCheckedPath(`media/${a}/${b}`);
      if (parsed !== null)
        expect([parsed.owner, parsed.name].some((part) => part === ".." || part!.includes("/"))).toBe(false);
    }),
  );
});
