/** The choice of files to upload, and the messages about the others. */
import "./page-globals";
import { expect, test } from "bun:test";
import { sniffMedia } from "../../../src/media/probing/sniff";
import { describeRefused } from "../../../web/upload/messages";
import { findOthers, isOther, isOtherInside, isScript, RECORDING_TYPES } from "../../../web/upload/recording-types";

test.each([
  ...["interview", "a.wv", "a.caf", "a.amr", "a.mka", "a.vob", "a.mod", "a.m2t", "a.wma", "a.ape", "a.f4v", "A.MP4"],
  ...["a.mov", "a.m4a", "a.wav", "take.3", "a.dat"],
])("%s without a type may be a recording", (name) => expect(isOther({ name, type: "" })).toBe(false));

test.each([
  ["a.ogx", "application/ogg"],
  ["a.asf", "application/vnd.ms-asf"],
  ["a.ts", "text/vnd.trolltech.linguist"],
  ["a", "application/octet-stream"],
  ["a", "video/x-new"],
])("%s of type %s may be a recording", (name, type) => expect(isOther({ name, type })).toBe(false));

test.each([
  ["Icon\r", ""],
  ["photo", "image/png"],
  ["list", "text/plain"],
  ["paper", "application/pdf"],
  ["pack", "application/zip"],
  ["sheet", "application/vnd.ms-excel"],
  ["slides", "application/vnd.openxmlformats-officedocument.presentationml.presentation"],
  ...["C0001M01.XML", "a.thm", "a.CPI", "a.pdf", "a.7z", "a.pages", "list.m3u8"].map((name) => [name, ""] as const),
])("%s of type %s is refused", (name, type) => expect(isOther({ name, type })).toBe(true));

test.each([
  ...["%PDF-1.7\n", "PK\x03\x04\x14\0", "Rar!\x1a\x07", "7z\xbc\xaf\x27\x1c", "\x1f\x8b\x08\0\0", "\x89PNG\r\n\x1a\n"],
  ...["\xff\xd8\xff\xe0\0\x10JFIF", "GIF89a", "II*\0\b\0\0\0", "MM\0*\0\0\0\b", "{\\rtf1\\ansi", "<?xml version"],
  ...["<!DOCTYPE html>", "<html><head>", "MZ\x90\0\x03\0", "\x7fELF\x02\x01\x01"],
])("%j is the beginning of no recording, for the server either", async (text) => {
  const head = Uint8Array.from(text.padEnd(4096, "\0"), (character) => character.charCodeAt(0));
  expect(await isOtherInside(new Blob([head]))).toBe(true);
  expect(await sniffMedia(head)).toBeNull();
});

test.each([
  ...[
    "\0\0\0\x18ftypmp42",
    "RIFF\0\0\0\0WAVE",
    "RIFF\0\0\0\0AVI ",
    "\x1aE\xdf\xa3",
    "OggS\0",
    "ID3\x04",
    "fLaC",
    "wvpk",
  ],
  ...[
    "\xff\xfb\x90\x44",
    "\xff\xf1\x50\x80",
    "\x0bw\0\0",
    "FORM\0\0\0\0AIFF",
    "caff",
    "#!AMR\n",
    "MAC ",
    "G\x40\0\x10",
  ],
  ...["\0\0\x01\xba", "\x06\x0e\x2b\x34", "\x30\x26\xb2\x75", "FLV\x01", "MZ\x47\x40", "\x1f\x8b\x47\x40", ""],
])("%j may be the beginning of a recording", async (text) => {
  const head = Uint8Array.from(text, (character) => character.charCodeAt(0));
  expect(await isOtherInside(new Blob([head]))).toBe(false);
});

test("files that do not respond may be recordings, and do not keep the others waiting", async () => {
  const create = (name: string, text: string) => new File([text], name);
  let begun = 0;
  const stuck = (name: string) => {
    const file = create(name, "");
    const hang = () => {
      begun++;
      return { arrayBuffer: () => new Promise(() => {}) };
    };
    return Object.assign(file, { slice: hang });
  };
  const paper = create("paper.mov", "%PDF-1.7");
  const photo = create("photo.jpg", "");
  const files = [stuck("a.mov"), stuck("b.mov"), paper, photo, create("take.txt", "%PDF-"), create("c.mov", "\0")];
  expect([...(await findOthers(files))]).toEqual([photo, paper]);
  // Files of a whole folder that cannot be read immediately are not waited for.
  begun = 0;
  expect((await findOthers(Array.from({ length: 100 }, (_, n) => stuck(`${n}.mov`)))).size).toBe(0);
  expect(begun).toBe(4);
});

test("scripts are not refused, and can be chosen beside recordings", () => {
  for (const name of ["a.TXT", "a.docx"])
    expect([isScript({ name }), isOther({ name, type: "text/plain" })]).toEqual([true, false]);
  expect(isScript({ name: "txt.mp4" })).toBe(false);
  expect(RECORDING_TYPES).toStartWith("video/*,audio/*,.mp4,");
  expect(RECORDING_TYPES).toEndWith(",.ape,.wv,.txt,.md,.markdown,.srt,.vtt,.docx");
});

test.each([
  [["photo.png"], "photo.png", "Too large. Use another."],
  [["a.xml", "b.thm"], "2 files", "Too large: a.xml and b.thm. Use another."],
  [["a", "b", "c"], "3 files", "Too large: a, b and c. Use another."],
  [["a", "b", "c", "d"], "4 files", "Too large: a, b and 2 more. Use another."],
  [
    Array.from({ length: 1200 }, (_, n) => `${n}.xml`),
    "1,200 files",
    "Too large: 0.xml, 1.xml and 1,198 more. Use another.",
  ],
])("of %j, one row says %s", (names, name, error) => {
  expect(
    describeRefused(
      names.map((one) => ({ name: one })),
      "Too large",
      "Use another.",
    ),
  ).toEqual({ name, error });
});
