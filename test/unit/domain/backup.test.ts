import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type BackupManifest,
  findLastDueTime,
  formatBackupName,
  parseBackupName,
  parseManifest,
  selectBackupsToPrune,
} from "../../../src/domain/backup";

const file = (path: string) => ({ path, bytes: 1, sha256: "0".repeat(64), modified_at: 0 });
/** After all backups. */
const LATER = 5e12;
const MANIFEST: BackupManifest = {
  format: 1,
  created_at: "2027-01-31T02:00:00.000Z",
  version: "1.0.0",
  schema: "0000_initial",
  has_media: true,
  files: [file("offcut.db"), file("secrets.json"), file("media/a/source")],
  missing: [],
};
const withFile = (path: string) => ({ ...MANIFEST, files: [...MANIFEST.files, file(path)] });

test("the name of a backup is its time", () => {
  const time = Date.UTC(2027, 0, 31, 2, 0, 5);
  expect(formatBackupName(time)).toBe("offcut-2027-01-31T02-00-05Z");
  expect(parseBackupName("offcut-2027-01-31T02-00-05Z")).toBe(time);
});

test.each(["", "offcut-", "offcut-2027-01-31", "offcut-2027-13-31T02-00-05Z", ".offcut-2027-01-31T02-00-05Z.part"])(
  "%p is not the name of a backup",
  (name) => expect(parseBackupName(name)).toBe(null),
);

test("a manifest reads back", () => {
  expect(parseManifest(JSON.stringify(MANIFEST))).toEqual(MANIFEST);
});

describe("a manifest is refused:", () => {
  test.each([
    ["no JSON", "{", "not valid JSON"],
    ["null", "null", "unknown format"],
    ["a newer format", JSON.stringify({ ...MANIFEST, format: 2 }), "unknown format"],
    ["a missing field", JSON.stringify({ ...MANIFEST, schema: undefined }), "damaged"],
    ["files that are no list", JSON.stringify({ ...MANIFEST, files: {} }), "damaged"],
    ["no database", JSON.stringify({ ...MANIFEST, files: [file("secrets.json")] }), "lacks offcut.db"],
    ["no secrets", JSON.stringify({ ...MANIFEST, files: [file("offcut.db")] }), "lacks secrets.json"],
    ["a file twice", JSON.stringify(withFile("offcut.db")), "twice"],
    ["a negative size", JSON.stringify({ ...MANIFEST, files: [{ ...file("offcut.db"), bytes: -1 }] }), "damaged"],
    ["a short hash", JSON.stringify({ ...MANIFEST, files: [{ ...file("offcut.db"), sha256: "00" }] }), "damaged"],
    ...[
      "../secrets.json",
      "media/../../etc/passwd",
      "/etc/passwd",
      "media",
      "media/",
      "media//a",
      "media/./a",
      "media/a\\b",
      "media/a\nb",
      "assets/ffmpeg",
      "lock",
      `media/${"a".repeat(600)}`,
    ].map((path) => [`the path ${JSON.stringify(path.slice(0, 30))}`, JSON.stringify(withFile(path)), "damaged"]),
  ])("%s", (_, text, reason) => expect(() => parseManifest(text!)).toThrow(reason));
});

describe("the last due time", () => {
  const at = (text: string) => new Date(text).getTime();
  test.each([
    ["2027-01-31T02:00:00", "02:00", "2027-01-31T02:00:00"],
    ["2027-01-31T01:59:59", "02:00", "2027-01-30T02:00:00"],
    ["2027-01-31T23:00:00", "00:00", "2027-01-31T00:00:00"],
    ["2027-03-01T00:10:00", "23:30", "2027-02-28T23:30:00"],
  ])("at %s for %s is %s", (now, time, expected) => expect(findLastDueTime(at(now), time)).toBe(at(expected)));

  test("is never in the future and at most 25 hours ago", () => {
    const minutes = fc.integer({ min: 0, max: 59 }).map((n) => String(n).padStart(2, "0"));
    const hours = fc.integer({ min: 0, max: 23 }).map((n) => String(n).padStart(2, "0"));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), hours, minutes, (now, hour, minute) => {
        const age = now - findLastDueTime(now, `${hour}:${minute}`);
        return age >= 0 && age <= 25 * 3_600_000;
      }),
    );
  });
});

describe("pruning", () => {
  const noon = (day: number) => new Date(2027, 0, day, 12).getTime();
  const days = (...list: number[]) => list.map(noon);
  test("keeps the last backup of each of the last days and weeks", () => {
    // 2027-01-31 is a Sunday: the weeks end on 31, 24, 17 and 10.
    const times = days(...Array.from({ length: 31 }, (_, i) => i + 1));
    const kept = times.filter((time) => !selectBackupsToPrune(times, { daily: 7, weekly: 4 }, LATER).includes(time));
    expect(kept).toEqual(days(10, 17, 24, 25, 26, 27, 28, 29, 30, 31));
  });

  test("counts days that have a backup, so that a server that was off keeps its backups", () => {
    expect(selectBackupsToPrune(days(1, 9, 20), { daily: 3, weekly: 0 }, LATER)).toEqual([]);
  });

  test("those of a wrong clock stay, and replace none of the others", () => {
    const [before, yesterday, today, future] = days(3, 4, 5, 20) as [number, number, number, number];
    const times = [before, yesterday, today, future];
    expect(selectBackupsToPrune(times, { daily: 1, weekly: 0 }, today)).toEqual([yesterday, before]);
  });

  test("keeps the newest of a day", () => {
    const [morning, evening] = [new Date(2027, 0, 5, 8).getTime(), new Date(2027, 0, 5, 20).getTime()];
    expect(selectBackupsToPrune([evening, morning], { daily: 7, weekly: 4 }, LATER)).toEqual([morning]);
  });

  test("damaged ones replace no good one, and go when a good one of their age would", () => {
    const keep = { daily: 2, weekly: 0 };
    expect(selectBackupsToPrune(days(1, 2, 3), keep, LATER, days(4, 5, 6))).toEqual(days(4, 1));
    expect(selectBackupsToPrune([], keep, LATER, days(1, 2, 3))).toEqual([]);
  });

  test("never removes the newest, and removes nothing twice", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 0, max: 4e12 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 0, max: 10 }),
        (times, daily, weekly) => {
          const removed = selectBackupsToPrune(times, { daily, weekly }, LATER);
          const rest = times.filter((time) => !removed.includes(time));
          expect(removed).not.toContain(Math.max(...times));
          expect(rest.length).toBeLessThanOrEqual(daily + weekly);
          expect(selectBackupsToPrune(rest, { daily, weekly }, LATER)).toEqual([]);
        },
      ),
    );
  });
});
