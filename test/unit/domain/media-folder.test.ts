import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  decideMediaFolder,
  findFolderConflict,
  formatMarker,
  parseMarker,
  type StartDecision,
  type StartFacts,
} from "../../../src/domain/media-folder";

const OWN = "0190aaaa-0000-7000-8000-000000000001";
const OTHER = "0190aaaa-0000-7000-8000-000000000002";

const EMPTY = { marker: null, hasFiles: false };
const EMPTY_MEDIA = { ...EMPTY, unmounted: null };
const NEW: StartFacts = { id: null, hasDatabase: false, data: EMPTY, media: null };
const OLD: StartFacts = { id: null, hasDatabase: true, data: { marker: null, hasFiles: true }, media: null };
const USED: StartFacts = { id: OWN, hasDatabase: true, data: { marker: OWN, hasFiles: true }, media: null };
/** Its media is in another folder. */
const SPLIT: StartFacts = { id: OWN, hasDatabase: true, data: EMPTY, media: { ...EMPTY_MEDIA, marker: OWN } };

const CASES: [name: string, facts: StartFacts, decision: StartDecision][] = [
  ["a new server", NEW, "create"],
  ["the first start of this version on a data folder", OLD, "create"],
  ["a data folder with everything", USED, "use"],
  ["a new server with a media folder", { ...NEW, media: EMPTY_MEDIA }, "create"],
  [
    "a new server whose start was killed after the first marker",
    { ...NEW, id: OWN, data: { marker: OWN, hasFiles: false }, media: EMPTY_MEDIA },
    "create",
  ],
  ["a media folder with the right marker", SPLIT, "use"],
  [
    "a media folder with the right marker, and one that was left in the data folder",
    { ...SPLIT, data: { marker: OWN, hasFiles: false } },
    "use",
  ],
  ["a mount that is away", { ...SPLIT, media: EMPTY_MEDIA }, "offline"],
  ["a mount that is away and in /etc/fstab", { ...SPLIT, media: { ...EMPTY_MEDIA, unmounted: "/mnt" } }, "offline"],
  [
    "another folder with files in place of the mount",
    { ...SPLIT, media: { ...EMPTY_MEDIA, hasFiles: true } },
    "offline",
  ],
  ["a server that lost the setting media_dir", { ...SPLIT, media: null }, "offline"],
  [
    "a backup that was copied by hand to the data folder",
    { ...USED, data: { marker: null, hasFiles: true } },
    "create",
  ],
  [
    "an empty data folder beside a media folder of another one",
    { ...NEW, media: { ...EMPTY_MEDIA, marker: OTHER } },
    "no_data",
  ],
  [
    "an unmounted data folder whose media folder is there",
    { ...NEW, media: { ...EMPTY_MEDIA, marker: OWN, hasFiles: true } },
    "no_data",
  ],
  [
    "a lost database, and media in its media folder",
    { ...SPLIT, hasDatabase: false, media: { ...EMPTY_MEDIA, marker: OWN, hasFiles: true } },
    "no_data",
  ],
  ["a lost database, and media in the data folder", { ...USED, hasDatabase: false }, "no_database"],
  ["a lost database and secrets, and media in the data folder", { ...OLD, hasDatabase: false }, "no_database"],
  [
    "a new server with a media folder that has files of somebody else",
    { ...NEW, media: { ...EMPTY_MEDIA, hasFiles: true } },
    "unmarked",
  ],
  ["a media folder of another data folder", { ...SPLIT, media: { ...EMPTY_MEDIA, marker: OTHER } }, "foreign"],
  [
    "an old data folder with a media folder of another one",
    { ...OLD, media: { ...EMPTY_MEDIA, marker: OTHER } },
    "foreign",
  ],
  ["secrets of another data folder", { ...USED, id: OTHER }, "foreign"],
  ["a new, empty media folder for a server with media", { ...USED, media: EMPTY_MEDIA }, "not_moved"],
  ["the same on the first start of this version", { ...OLD, media: EMPTY_MEDIA }, "not_moved"],
  [
    "media that was moved without the marker",
    { ...USED, data: { marker: OWN, hasFiles: false }, media: { ...EMPTY_MEDIA, hasFiles: true } },
    "unmarked",
  ],
  [
    "a new media folder for a server without media",
    { ...USED, data: { marker: OWN, hasFiles: false }, media: EMPTY_MEDIA },
    "create",
  ],
  [
    "a new media folder below a mount that is away",
    { ...NEW, media: { ...EMPTY_MEDIA, unmounted: "/mnt" } },
    "unmounted",
  ],
];

test.each(CASES)("%s", (_, facts, decision) => {
  expect(decideMediaFolder(facts)).toBe(decision);
});

const folder = fc.record({ marker: fc.constantFrom(null, OWN, OTHER), hasFiles: fc.boolean() });
const facts: fc.Arbitrary<StartFacts> = fc.record({
  id: fc.constantFrom(null, OWN),
  hasDatabase: fc.boolean(),
  data: folder,
  media: fc.option(
    fc.record({
      marker: fc.constantFrom(null, OWN, OTHER),
      hasFiles: fc.boolean(),
      unmounted: fc.constantFrom(null, "/mnt"),
    }),
  ),
});

test("files are taken over only with the right marker, or from the data folder itself", () => {
  fc.assert(
    fc.property(facts, (each) => {
      const decision = decideMediaFolder(each);
      if (decision === "use") expect((each.media ?? each.data).marker).toBe(each.id!);
      if (decision === "create" && each.media) expect(each.media).toEqual(EMPTY_MEDIA);
      if (each.media?.marker === OTHER) expect(["foreign", "no_data"]).toContain(decision);
      if (!each.hasDatabase && (each.media ?? each.data).hasFiles)
        expect(["foreign", "no_data", "no_database", "unmarked"]).toContain(decision);
    }),
  );
});

describe("a marker file", () => {
  test("is read as it was written", () => {
    expect(parseMarker(formatMarker(OWN))).toBe(OWN);
    expect(parseMarker(OWN)).toBe(OWN);
    expect(parseMarker(`${OWN}\r\n`)).toBe(OWN);
  });

  test.each(["", "\n", "text", `x${OWN}`, `${OWN}x`, OWN.slice(1), "\0".repeat(36)])("without an ID: %j", (text) => {
    expect(parseMarker(text)).toBeNull();
  });
});

describe("folders", () => {
  const conflict = (data: string, media: string | null, backup: string | null = null) =>
    findFolderConflict({ data, media, backup }) === null ? "ok" : "refused";

  test.each([
    ["/data", null, "/data/backup", "ok"],
    ["/data", "/data", null, "ok"],
    ["/data", "/data2", "/backup", "ok"],
    ["/data", "/mnt/media", "/mnt/backup", "ok"],
    ["/data", "/data/media", null, "refused"],
    ["/data", "/data/a/b", null, "refused"],
    ["/mnt/media/data", "/mnt/media", null, "refused"],
    ["/data", "/", null, "refused"],
    ["/data", "/backup", "/backup", "refused"],
    ["/data", "/backup/media", "/backup", "refused"],
    ["/data", "/mnt", "/mnt/backup", "refused"],
  ] as const)("%s, %s, %s: %4$s", (data, media, backup, expected) => {
    expect(conflict(data, media, backup)).toBe(expected);
  });
});
