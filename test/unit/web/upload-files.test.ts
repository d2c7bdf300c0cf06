/** Which files are uploaded, and what is said of the others. */
import "./page-globals";
import { expect, test } from "bun:test";
import { describeRefused } from "../../../web/upload/messages";
import { isOther, isScript, RECORDING_TYPES } from "../../../web/upload/recording-types";

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
  ["photo", "image/png"],
  ["list", "text/plain"],
  ["paper", "application/pdf"],
  ["pack", "application/zip"],
  ["sheet", "application/vnd.ms-excel"],
  ["slides", "application/vnd.openxmlformats-officedocument.presentationml.presentation"],
  ...["C0001M01.XML", "a.thm", "a.CPI", "a.pdf", "a.7z", "a.pages", "list.m3u8"].map((name) => [name, ""] as const),
])("%s of type %s is refused", (name, type) => expect(isOther({ name, type })).toBe(true));

test("scripts are no other files, and can be chosen beside recordings", () => {
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
