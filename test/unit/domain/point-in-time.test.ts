import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  findLastSnapshotTime,
  findStateAt,
  formatSnapshotName,
  getSnapshotDelay,
  listStates,
  parseSnapshotName,
  parseTrashName,
  selectFiles,
  selectSnapshotsToRemove,
  toFormerPath,
} from "../../../src/domain/point-in-time";
import { newIdAt } from "../../../src/lib/ids";

const HOUR_MS = 3_600_000;
const at = (hour: number, minute = 0, second = 0) => Date.UTC(2027, 0, 31, hour, minute, second);
const [A, B] = [newIdAt(1), newIdAt(2)];
const trashed = (time: number, folder: string, id: string) => `trash/${newIdAt(time)}.${folder}.${id}`;
const row = (id: string, is_complete = true) => ({ id, is_complete });

test("the name of a snapshot is its time", () => {
  expect(formatSnapshotName(at(2, 59, 52))).toBe("offcut-2027-01-31T02-59-52Z.db.zst");
  expect(parseSnapshotName("offcut-2027-01-31T02-59-52Z.db.zst")).toBe(at(2, 59, 52));
});

test.each(["", "offcut-2027-01-31T02-59-52Z", ".offcut-2027-01-31T02-59-52Z.db.zst.part", "x.db.zst"])(
  "%p is not the name of a snapshot",
  (name) => expect(parseSnapshotName(name)).toBe(null),
);

describe("snapshots", () => {
  test.each([
    [at(14), at(13, 59, 50)],
    [at(13, 59, 50), at(13, 59, 50)],
    [at(13, 59, 49), at(12, 59, 50)],
  ])("at %d the last due time is %d", (now, due) => {
    expect(findLastSnapshotTime(now)).toBe(due);
    expect(now + getSnapshotDelay(now)).toBe(due + HOUR_MS);
  });

  test.each([
    ["those that no hour needs are removed", [-50, -49, -47, -1], [-50]],
    ["the state 48 hours ago stays, however old", [-90, -80, -1], [-90]],
    ["that of exactly 48 hours ago is enough", [-49, -48], [-49]],
    ["those of the future stay, as after a moment with a wrong clock", [-1, 500], []],
    ["none", [], []],
  ])("%s", (_, hours, removed) => {
    const now = at(12);
    const times = hours.map((hour) => now + hour * HOUR_MS);
    expect(selectSnapshotsToRemove(times, now)).toEqual(removed.map((hour) => now + hour * HOUR_MS));
  });

  test("the newest is never removed, whatever the clock shows", () => {
    const time = fc.integer({ min: 0, max: 4e12 });
    fc.assert(
      fc.property(fc.uniqueArray(time, { minLength: 1 }), time, (times, now) => {
        expect(selectSnapshotsToRemove(times, now)).not.toContain(Math.max(...times));
      }),
    );
  });
});

describe("names in the trash", () => {
  test("contain the time and the former place", () => {
    const path = trashed(at(9), "media", A);
    expect(parseTrashName(path.slice("trash/".length))).toEqual({
      ...{ time: at(9), folder: "media", name: A, isStray: false },
    });
    expect(toFormerPath(`${path}/source`)).toBe(`media/${A}/source`);
    expect(toFormerPath(`media/${A}/source`)).toBe(`media/${A}/source`);
    expect(toFormerPath("trash/other/source")).toBe("trash/other/source");
  });

  test.each([
    newIdAt(1),
    `${newIdAt(1)}.work.x`,
    `${newIdAt(1)}.media.`,
    `${newIdAt(1)}.media...`,
    `${newIdAt(1)}.media.a/b`,
    `x.media.${A}`,
  ])("%p is not one", (name) => expect(parseTrashName(name)).toBe(null));
});

describe("the state at a time", () => {
  const snapshot = (hour: number) => `snapshots/${formatSnapshotName(at(hour))}`;
  const states = listStates(
    ["offcut.db", "secrets.json", snapshot(10), snapshot(11), "snapshots/x", `${snapshot(9)}/x`, "media/a/source"],
    at(12),
  );
  test.each([
    ["the backup's own database", at(13), "offcut.db"],
    ["a snapshot of exactly that time", at(11), snapshot(11)],
    ["the snapshot before it", at(10, 59), snapshot(10)],
    ["none", at(9), undefined],
  ])("is %s", (_, time, path) => expect(findStateAt(states, time)?.path).toBe(path as string));
});

describe("the files of a state at 10:00", () => {
  const time = at(10);
  const [before, after, later] = [at(9), at(11), at(12)];
  const source = `media/${A}/source`;
  const old = trashed(before, "media", A);
  const first = trashed(after, "media", A);
  const second = trashed(later, "media", A);
  const render = trashed(after, "renders", B);
  const upload = trashed(after, "uploads", A);
  const snapshot = `snapshots/${formatSnapshotName(before)}`;
  const CASES: [string, string[], string[], [string, string][], string[]][] = [
    ["a file that still exists", [source], [A], [[source, source]], []],
    ["a file of a row that came later", [source], [], [], []],
    ["a file that was deleted later", [`${first}/source`], [A], [[`${first}/source`, source]], []],
    [
      "a file that was deleted later, and whose folder exists again",
      [`${second}/x`, `${first}/source`, `media/${A}/x`],
      [A],
      [[`${first}/source`, source]],
      [],
    ],
    ["a file that was deleted before", [`${old}/source`], [], [[`${old}/source`, `${old}/source`]], []],
    ["a file that was deleted as the snapshot was taken", [`${old}/source`], [A], [[`${old}/source`, source]], []],
    ["a file that came and went later", [`${first}/source`], [], [], []],
    [
      "a file that is lost",
      [`media/${A}/poster.jpg`],
      [A],
      [[`media/${A}/poster.jpg`, `media/${A}/poster.jpg`]],
      [source],
    ],
    ["an upload that was cancelled later", [upload], [A], [[upload, `uploads/${A}`]], [source]],
    [
      "models and older snapshots",
      ["models/m/x", snapshot],
      [],
      [
        ["models/m/x", "models/m/x"],
        [snapshot, snapshot],
      ],
      [],
    ],
    ["a newer snapshot", [`snapshots/${formatSnapshotName(after)}`], [], [], []],
    ["the database, secrets and anything else", ["offcut.db", "secrets.json", "trash/x/y", "work/x"], [], [], []],
  ];
  test.each(CASES)("%s", (_, paths, rows, files, missing) => {
    const selected = selectFiles(paths, { assets: rows.map((id) => row(id)), renders: [] }, time);
    expect(selected.files.map(({ from, to }) => [from, to])).toEqual(files);
    expect(selected.missing).toEqual(missing);
  });

  test("renders come from the trash, and those without a file are missing unless they are unfinished", () => {
    const rows = { assets: [], renders: [row(A), row(B), row(newIdAt(3), false)] };
    const selected = selectFiles([`${render}/output.mp4`], rows, time);
    expect(selected.files).toEqual([{ from: `${render}/output.mp4`, to: `renders/${B}/output.mp4` }]);
    expect(selected.missing).toEqual([`renders/${A}`]);
  });

  test("every path is used at most once, and no two files have the same place", () => {
    const id = fc.constantFrom(A, B);
    const deleted = fc.tuple(
      fc.constantFrom(before, time, after, later),
      fc.constantFrom("media", "renders", "uploads"),
      id,
    );
    const path = fc.oneof(
      fc.tuple(fc.constantFrom("media", "renders", "models"), id).map(([folder, name]) => `${folder}/${name}/source`),
      deleted.map(([when, folder, name]) => `${trashed(when, folder, name)}/source`),
      fc.integer({ min: 0, max: 23 }).map((hour) => `snapshots/${formatSnapshotName(at(hour))}`),
    );
    fc.assert(
      fc.property(fc.uniqueArray(path), fc.uniqueArray(id), fc.uniqueArray(id), (paths, assets, renders) => {
        const rows = { assets: assets.map((each) => row(each)), renders: renders.map((each) => row(each)) };
        const { files } = selectFiles(paths, rows, time);
        expect(new Set(files.map(({ from }) => from)).size).toBe(files.length);
        expect(new Set(files.map(({ to }) => to)).size).toBe(files.length);
        for (const { from } of files) expect(paths).toContain(from);
      }),
    );
  });
});
