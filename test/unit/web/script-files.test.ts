import { describe, expect, test } from "bun:test";
import { decodeText } from "../../../src/domain/text/decode";
import { readZipEntry } from "../../../web/pages/asset/docx";
import { readScript } from "../../../web/pages/asset/script";
import { writeZip } from "../../zip";

const read = async (bytes: Uint8Array<ArrayBuffer>, maxBytes = 1000) =>
  new TextDecoder().decode(await readZipEntry(bytes, "word/document.xml", maxBytes));

describe("an entry of a ZIP archive", () => {
  test.each([
    ["deflated", {}],
    ["stored", { method: 0 }],
    ["before a comment", { comment: "written by hand" }],
  ])("%s", async (_, options) => {
    expect(await read(writeZip("word/document.xml", "<p>Hello</p>", options))).toBe("<p>Hello</p>");
  });

  test.each<[string, Uint8Array<ArrayBuffer>]>([
    ["that is missing", writeZip("other.xml", "x")],
    ["that is too large", writeZip("word/document.xml", "x".repeat(1001))],
    ["that is too large and stored", writeZip("word/document.xml", "x".repeat(1001), { method: 0 })],
    ["of another compression", writeZip("word/document.xml", "x", { method: 12 })],
    ["of a file that is cut off", writeZip("word/document.xml", "hello".repeat(50)).slice(0, 40)],
    ["of no archive", new Uint8Array(100)],
    ["of nothing", new Uint8Array()],
  ])("%s is an error", async (_, bytes) => {
    expect(await read(bytes).catch((error: unknown) => error)).toBeInstanceOf(Error);
  });
});

describe("a script from a file", () => {
  test.each<[string, number[], string]>([
    ["UTF-8", [0xc3, 0xbc], "ü"],
    ["UTF-8 with a byte order mark", [0xef, 0xbb, 0xbf, 0x61], "a"],
    ["UTF-16, little-endian", [0xff, 0xfe, 0xfc, 0x00], "ü"],
    ["UTF-16, big-endian", [0xfe, 0xff, 0x00, 0xfc], "ü"],
    ["Windows-1252", [0xfc, 0x93], "ü“"],
  ])("in %s", (_, bytes, text) => {
    expect(decodeText(Uint8Array.from(bytes))).toBe(text);
  });

  test("keeps subtitles and Markdown as they are, with plain line ends", async () => {
    expect(await readScript(new File(["1\r\n00:00 --> 00:01\r\nHi\r\n"], "a.srt"))).toBe("1\n00:00 --> 00:01\nHi\n");
  });

  test.each([
    ["a PDF", new File(["%PDF"], "script.pdf"), "not supported"],
    ["a binary file", new File(["a\0b"], "script.txt"), "is not a text"],
    ["a huge file", new File(["x".repeat(2_000_001)], "script.txt"), "larger than 2\u00a0MB"],
  ])("says what to do with %s", async (_, file, message) => {
    const error = await readScript(file).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain(message);
  });
});
