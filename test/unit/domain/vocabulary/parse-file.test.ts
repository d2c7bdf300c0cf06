import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { listVocabularyProblems, mergeVocabularies } from "../../../../src/domain/vocabulary/entries";
import { parseVocabularyFile } from "../../../../src/domain/vocabulary/parse-file";

const entry = (text: string, ...spoken_as: string[]) => ({ text, spoken_as });

describe("a vocabulary file", () => {
  test.each([
    ["a term a line", "Offcut\nPrzybylski\n", [entry("Offcut"), entry("Przybylski")]],
    [
      "spoken forms",
      "Offcut = off cut, of  cut\r\n\r\n# names\r\nJan  Ko=yan ko,",
      [entry("Offcut", "off cut", "of cut"), entry("Jan Ko", "yan ko")],
    ],
    ["a byte order mark and old line ends", "\ufeffOffcut\rÖzil", [entry("Offcut"), entry("Özil")]],
    [
      "lines of one term are joined",
      "Offcut = off cut\noffcut = of cut, OFF CUT",
      [entry("Offcut", "off cut", "of cut")],
    ],
    [
      "CSV with a head",
      'Term,Spoken as\nOffcut,off cut,of cut\n"Ko, Jan","yan ""ko"""\n',
      [entry("Offcut", "off cut", "of cut"), entry("Ko, Jan", 'yan "ko"')],
    ],
    ["CSV with semicolons", "Offcut;off cut;;\nÖzil;\n", [entry("Offcut", "off cut"), entry("Özil")]],
    ["tabs", "Offcut\toff cut\nÖzil\tursil", [entry("Offcut", "off cut"), entry("Özil", "ursil")]],
  ])("%s", (_, text, entries) => {
    expect(parseVocabularyFile(text)).toEqual({ entries, problem: null });
  });

  test.each([
    ["a missing term", "Offcut\n = off cut", 2, "the term is missing"],
    ["a long term", `Offcut\n\n${"x".repeat(81)}`, 3, "must have at most 80 characters"],
    ["a control character", "Off\u0007cut", 1, "must not contain control characters"],
    ["nothing to say", "Offcut\n…\n", 2, "must contain a letter or a digit"],
    ["a form of two terms", "Offcut = off cut\nOther = Off-Cut", 2, 'is already in the entry "Offcut"'],
    ["an open quotation mark", 'Offcut,"off cut\nOther,x', 1, "a quotation mark is not closed"],
    ["bytes that are not UTF-8", "Offcut\nM\ufffdller", 2, "the text is not UTF-8"],
    ["a long file", `Offcut\n${"\n".repeat(400_000)}`, null, "must have at most 400000 characters"],
    ["an empty file", "\ufeff\n", null, "has no terms"],
    ["a file with notes only", "\n # only a note\n", null, "has no terms: lines that start with # are notes"],
    ["CSV with a head only", "Term,Spoken as\n", null, "has no terms"],
    // Quadratic time would be minutes.
    ["many forms", `Offcut = ${Array.from({ length: 60_000 }, (_, n) => n).join()}`, 1, "at most 10 spoken forms"],
    ["too many forms", `Offcut = ${Array.from({ length: 11 }, (_, n) => `form ${n}`)}`, 1, "at most 10 spoken forms"],
    ["too many terms", Array.from({ length: 2_001 }, (_, n) => `Name ${n}`).join("\n"), 2_001, "at most 2000 entries"],
  ])("%s is refused with its line", (_, text, line, message) => {
    const { problem } = parseVocabularyFile(text);
    expect(problem?.line).toBe(line);
    expect(problem?.message).toContain(message);
  });

  test("any text is parsed to valid entries, or refused", () => {
    // The units of fast-check build a table of all characters first, which takes seconds on a busy machine.
    const unit = fc.oneof(
      fc.constantFrom(...',;=#"\t\r\n '),
      fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
    );
    fc.assert(
      fc.property(fc.array(fc.string({ unit, maxLength: 60 }), { maxLength: 8 }), (lines) => {
        const { entries, problem } = parseVocabularyFile(lines.join("\n"));
        if (entries) expect(listVocabularyProblems(entries)).toEqual([]);
        else expect(problem.line ?? 1).toBeGreaterThan(0);
      }),
      { numRuns: 50 },
    );
  });
});

test("entries of the first list win, and their forms", () => {
  expect(
    mergeVocabularies([entry("Offcut", "of cut")], [entry("OFFCUT", "off cut"), entry("Other", "Of Cut", "ather")]),
  ).toEqual([entry("Offcut", "of cut"), entry("Other", "ather")]);
});
