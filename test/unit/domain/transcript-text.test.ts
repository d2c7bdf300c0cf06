import { describe, expect, test } from "bun:test";
import type { PlanJson } from "../../../src/domain/plan-json";
import type { Word } from "../../../src/domain/speech";
import { formatDocx, formatMarkdown, formatPlainText, listTranscript } from "../../../src/domain/transcript-text";
import { packTexts } from "../../../src/lib/zip-bytes";
import { readZipEntry } from "../../../web/pages/asset/docx";

const SECOND = 1_000_000;

/** Returns one word a second, each half a second long. */
const speak = (text: string): Word[] =>
  text.split(" ").map((word, n) => ({ text: word, start: n * SECOND, end: (n + 0.5) * SECOND, confidence: 1 }));

const keep = (...parts: [number, number][]): PlanJson => ({
  source_duration: 1000,
  kept_duration: 1000,
  frame_rate: null,
  segments: parts.map(([start, end]) => ({ start, end, start_frame: null, end_frame: null, text: "", review: null })),
  removed: [],
  takes: [],
  missing: [],
  warnings: [],
});

const LAYOUT = { title: "Talk", hasTimes: false };

describe("the text of a cut", () => {
  test("has the kept words, with the times of the cut", () => {
    const words = speak("one two three four five six");
    expect(listTranscript(words, keep([1, 2], [4, 6]))).toEqual([
      { start: 0, text: "two" },
      { start: SECOND, text: "five six" },
    ]);
  });

  test("starts a paragraph at the end of a sentence after 50 words, or after 80 words", () => {
    const words = speak(`${Array.from({ length: 55 }, (_, n) => `w${n}`).join(" ")} end. ${"next ".repeat(90).trim()}`);
    expect(listTranscript(words, keep([0, 1000])).map(({ text }) => text.split(" ").length)).toEqual([56, 80, 10]);
  });

  test("of nothing is empty", () => {
    expect(listTranscript([], keep([0, 1]))).toEqual([]);
    expect(formatPlainText([], LAYOUT)).toBe("");
  });
});

const PARAGRAPHS = [
  { start: 0, text: "# First & <last>" },
  { start: 3_725 * SECOND, text: "2. *Second*" },
];

test("plain text has a blank line between paragraphs", () => {
  expect(formatPlainText(PARAGRAPHS, LAYOUT)).toBe("# First & <last>\n\n2. *Second*\n");
  expect(formatPlainText(PARAGRAPHS, { ...LAYOUT, hasTimes: true })).toBe(
    "[0:00] # First & <last>\n\n[1:02:05] 2. *Second*\n",
  );
});

test("Markdown shows the words as they are said", () => {
  expect(formatMarkdown(PARAGRAPHS, LAYOUT)).toBe("# Talk\n\n\\# First \\& \\<last\\>\n\n2\\. \\*Second\\*\n");
  expect(formatMarkdown(PARAGRAPHS.slice(1), { ...LAYOUT, hasTimes: true })).toContain("**1:02:05** ");
});

test("a Word document has its parts in a ZIP archive that this project reads as a script", async () => {
  const parts = formatDocx(PARAGRAPHS, { title: "Talk \u0001", hasTimes: true });
  const packed = await packTexts(parts, Date.UTC(2000, 0, 1));
  for (const { name, text } of parts)
    expect(new TextDecoder().decode(await readZipEntry(packed, name, 1_000_000))).toBe(text);
  const document = parts.find(({ name }) => name === "word/document.xml")!.text;
  expect(document).toContain("# First &amp; &lt;last&gt;</w:t>");
  expect(document).toContain("Talk \ufffd");
  expect(packed).toEqual(await packTexts(parts, Date.UTC(2000, 0, 1)));
});
