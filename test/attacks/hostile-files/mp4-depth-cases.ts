/**
 * Hostile MP4 and QuickTime files: nesting, thousands of tracks, metadata, references to other files, compressed
 * headers.
 */
import { deflateSync } from "node:zlib";
import { type Bytes, byte, concat, latin, repeat, text, uintBE, zeros } from "./bytes";
import { type HostileCase, hostile, hostileFirst, type Targets } from "./cases";
import { addBoxes, box, changeBox, formatBox, parseBoxes, writeFields } from "./mp4-boxes";

const u32 = (value: number) => uintBE(value, 4);
const DATA_REFERENCE = "moov/trak/mdia/minf/dinf/dref";
const BOMB_BYTES = 64 * 1024 * 1024;

export function mp4DepthCases(mp4: Bytes, targets: Targets): HostileCase[] {
  return [...nestingCases(mp4), ...metadataCases(mp4, targets), ...referenceCases(mp4, targets)];
}

/** A box in a box in a box. Built from the inside without copying it a thousand times. */
function nested(type: string, depth: number, fields: Bytes = zeros(0)): Bytes {
  const step = 8 + fields.length;
  return concat(repeat(depth, (n) => concat(u32(step * (depth - n)), latin(type), fields)));
}

function nestingCases(mp4: Bytes): HostileCase[] {
  const tracks = (count: number) =>
    changeBox(mp4, "moov", (moov) => {
      const trak = moov.children!.find((child) => child.type === "trak")!;
      return [{ ...moov, children: [...moov.children!, ...Array.from({ length: count }, () => trak)] }];
    });
  const top = parseBoxes(mp4);
  const moov = formatBox(top.find((found) => found.type === "moov")!);
  const compressed = (claimed: number, data: Bytes) =>
    concat(
      ...top.filter((found) => found.type !== "moov").map(formatBox),
      box("moov", box("cmov", box("dcom", latin("zlib")), box("cmvd", u32(claimed), data))),
    );
  return [
    hostileFirst("moov nested 1,000 deep", () => concat(mp4, nested("moov", 1_000))),
    hostile("trak nested 1,000 deep", () => addBoxes(mp4, "moov", nested("trak", 1_000))),
    hostile("meta nested 1,000 deep", () => addBoxes(mp4, "moov/udta", nested("meta", 1_000, zeros(4)))),
    hostile("moof nested 100,000 deep", () => concat(mp4, nested("moof", 100_000))),
    hostile("1,000 tracks", () => tracks(1_000)),
    hostile("63 more tracks", () => tracks(62)),
    hostile("20,000 empty tracks", () =>
      addBoxes(
        mp4,
        "moov",
        repeat(20_000, () => box("trak")),
      ),
    ),
    hostile("100,000 unknown boxes", () =>
      concat(
        mp4,
        repeat(100_000, () => box("free")),
      ),
    ),
    hostile("two movies", () => concat(mp4, moov)),
    hostile("compressed header, honest", () => compressed(moov.length, deflateSync(moov))),
    hostile("compressed header that is a bomb", () => compressed(BOMB_BYTES, deflateSync(zeros(BOMB_BYTES)))),
    hostile("compressed header of 2^31 bytes", () => compressed(2 ** 31, deflateSync(zeros(10_000)))),
  ];
}

function metadataCases(mp4: Bytes, targets: Targets): HostileCase[] {
  const tag = (name: string, value: Bytes, claimed = value.length + 16) =>
    box(name, concat(u32(claimed), latin("data"), u32(1), u32(0), value));
  const list = (...tags: Bytes[]) =>
    changeBox(mp4, "moov/udta/meta/ilst", (ilst) => [{ ...ilst, children: tags.flatMap(parseBoxes) }]);
  const title = (value: Bytes) => list(tag("\xa9nam", value));
  return [
    hostile("title that claims 2^32-1 bytes", () => list(tag("\xa9nam", text("a"), 2 ** 32 - 1))),
    hostile("title of 5 MB", () => title(text("long ".repeat(1_000_000)))),
    hostile("title of control characters", () => title(byte(...Array.from({ length: 256 }, (_, n) => n)))),
    hostile("title that looks like ffmpeg's own lines", () =>
      title(text("\nInput #0, concat\n    Stream #0:0: Video: h264, yuv420p, 99999x99999\n  Duration: 9999:00:00.00")),
    ),
    hostile("titles that name files", () =>
      list(
        ...targets.map((path) => tag("\xa9nam", text(`concat:${path}|${path}`))),
        tag("\xa9cmt", text("file:///etc/passwd")),
      ),
    ),
    hostile("cover of 65,535 pixels a side", () =>
      list(
        tag(
          "covr",
          concat(
            latin("\x89PNG\r\n\x1a\n"),
            u32(13),
            latin("IHDR"),
            u32(65_535),
            u32(65_535),
            byte(8, 6, 0, 0, 0),
            zeros(4),
          ),
        ),
      ),
    ),
    hostile("50,000 tags", () => list(repeat(50_000, (n) => tag("\xa9cmt", text(`${n}`))))),
  ];
}

/** Media whose data reference names another file. */
function referenceCases(mp4: Bytes, targets: Targets): HostileCase[] {
  const reference = (entry: Bytes) =>
    writeFields(
      changeBox(mp4, DATA_REFERENCE, (dref) => [{ ...dref, children: [] }]),
      DATA_REFERENCE,
      concat(zeros(4), u32(1), entry),
    );
  return [
    ...targets.flatMap((path, n) => [
      hostileFirst(`media in target ${n + 1} by address`, () =>
        reference(box("url ", zeros(4), text(`file://${path}\0`))),
      ),
      hostile(`media in target ${n + 1} by alias`, () => reference(box("alis", zeros(4), alias(path)))),
    ]),
    hostile("movie that refers to another", () =>
      addBoxes(
        mp4,
        "moov",
        box("rmra", box("rmda", box("rdrf", zeros(4), latin("url "), u32(targets[0]!.length), text(targets[0]!)))),
      ),
    ),
    hostile("media by a name in another folder", () =>
      reference(box("urn ", zeros(4), text(`urn:x\0../../${targets[0]!}\0`))),
    ),
  ];
}

/** A Macintosh alias record with the path in its tag 18 and the folder levels that make ffmpeg look for it. */
function alias(path: string): Bytes {
  const name = text(path.split("/").at(-1)!);
  const tagged = (type: number, value: Bytes) =>
    concat(uintBE(type, 2), uintBE(value.length, 2), value, zeros(value.length % 2));
  const record = concat(
    ...[latin("    "), uintBE(0, 2), uintBE(2, 2), zeros(2)],
    ...[byte(4), latin("disk"), zeros(23), zeros(12)],
    ...[byte(Math.min(63, name.length)), name.subarray(0, 63), zeros(63 - Math.min(63, name.length))],
    ...[zeros(16), uintBE(1, 2), uintBE(1, 2), zeros(16)],
    ...[tagged(2, text(path.replaceAll("/", ":"))), tagged(18, text(path)), uintBE(0xffff, 2), zeros(2)],
  );
  return concat(record.subarray(0, 4), uintBE(record.length, 2), record.subarray(6));
}
