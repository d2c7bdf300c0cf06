import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { AppError } from "../../../../src/domain/errors";
import { parseUploadMetadata, toSafeBasename } from "../../../../src/work/uploads/metadata";

const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("a file name", () => {
  test.each<[string, string | null]>([
    ["talk.mp4", "talk.mp4"],
    ["/home/anna/talk.mp4", "talk.mp4"],
    ["C:\\Users\\Anna\\talk.mp4", "talk.mp4"],
    ["../../etc/passwd", "passwd"],
    ["..\\..\\boot.ini", "boot.ini"],
    ["talk.mp4/", "talk.mp4"],
    ["..", null],
    [".", null],
    ["a/..", null],
    ["a\\..\\", null],
    ["/", null],
    ["", null],
    ["   ", null],
    ["\u0000\u0001", null],
    [".hidden", ".hidden"],
    ["...", "..."],
    ["tab\tand\nline\r\nbreak\u2028.mp4", "tabandlinebreak.mp4"],
    ["zero\u0000.mp4", "zero.mp4"],
    ["..\u0000/..\u0000/passwd", "passwd"],
    [".\u0000.", null],
    ["invoice\u202e4pm.exe", "invoice4pm.exe"],
    ["\u2066a\u2069\u200e\u200f\u061c.mp4", "a.mp4"],
    ["🎬 Schnitt – Ünïcode 拍摄.mp4", "🎬 Schnitt – Ünïcode 拍摄.mp4"],
    ['quote".mp4; filename="x', 'quote".mp4; filename="x'],
    ["👩‍👩‍👧 family.mov", "👩‍👩‍👧 family.mov"],
  ])("%j becomes %j", (name, expected) => {
    expect(toSafeBasename(name)).toBe(expected);
  });

  test("is truncated to 255 code points", () => {
    const long = toSafeBasename(`${"a".repeat(254)}🎬🎬`)!;
    expect([...long]).toHaveLength(255);
    expect(long.isWellFormed()).toBe(true);
    expect(long).toEndWith("🎬");
  });

  test("never contains a path, a control character or a direction mark, and is stable", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (name) => {
        const safe = toSafeBasename(name);
        if (safe === null) return;
        expect(safe).not.toMatch(/[/\\\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
        expect(["", ".", ".."]).not.toContain(safe);
        expect(toSafeBasename(safe)).toBe(safe);
      }),
      { numRuns: 500 },
    );
  });
});

describe("Upload-Metadata", () => {
  test.each<[string, string | null, { filename: string | null; externalId: string | null }]>([
    ["none", null, { filename: null, externalId: null }],
    ["an empty one", "", { filename: null, externalId: null }],
    ["a name", `filename ${base64("🎬.mp4")}`, { filename: "🎬.mp4", externalId: null }],
    ["a path", `filename ${base64("../../x.mp4")}`, { filename: "x.mp4", externalId: null }],
    [
      "both, and others",
      `filetype ${base64("video/mp4")}, filename ${base64("a.mp4")},external_id ${base64("scene 4")},flag`,
      { filename: "a.mp4", externalId: "scene 4" },
    ],
    ["a key without a value", "filename", { filename: null, externalId: null }],
    [
      "an external id of 256 characters",
      `external_id ${base64("🎬".repeat(256))}`,
      { filename: null, externalId: "🎬".repeat(256) },
    ],
  ])("with %s", (_, header, expected) => {
    expect(parseUploadMetadata(header)).toEqual({ header, ...expected });
  });

  test.each([
    ["a value that is not base64", "filename a.mp4"],
    ["two values", `filename ${base64("a")} ${base64("b")}`],
    ["an external id that is too long", `external_id ${base64("x".repeat(257))}`],
    ["an external id with a zero character", `external_id ${base64("a\u0000b")}`],
    ["an external id with a line break", `external_id ${base64("a\nb")}`],
  ])("with %s is refused", (_, header) => {
    expect(() => parseUploadMetadata(header)).toThrow(AppError);
  });
});
