import { expect, test } from "bun:test";
import type { Word } from "../../../../src/domain/speech";
import { findReplacements, loadCommonForms } from "../../../../src/work/vocabulary/replace-words";
import { toEntries, toWords } from "./recognized-words";

test.each([
  ["en", "house", true],
  ["en", "“House,”", false],
  ["en", "“house,”", true],
  // The whole word counts, not its first letters.
  ["en", "co-pilot", false],
  ["en", "next-cloud", false],
  ["en", "h264", false],
  ["en", "2024", false],
  ["en", "…", false],
  [null, "house", true],
  // The list of frequent words is that of the English recognizer.
  ["de", "house", false],
  ["de", "der", true],
  ["de", "der die das", true],
  ["pl", "house", false],
])("in %j, whether %j is common: %j", async (language, form, isCommon) => {
  const { isCommonForm } = await loadCommonForms(language);
  expect(isCommonForm(form)).toBe(isCommon);
});

const replaceByText = (language: string, words: Word[], vocabulary: Record<string, string[]>) =>
  findReplacements(
    { language, words, utterances: [], forcing: false },
    { entries: toEntries(vocabulary), kept: new Set(), speech: null },
  );

test("a listed form of one token in a language without frequent words is replaced, unless it is a function word", async () => {
  const vocabulary = { Prawo: ["house"], Dehr: ["der"] };
  const find = async (language: string) =>
    (await replaceByText(language, toWords("wir house der"), vocabulary)).map(({ texts }) => texts.join(" "));
  expect(await find("de")).toEqual(["Prawo"]);
  expect(await find("pl")).toEqual(["Prawo", "Dehr"]);
  expect(await find("en")).toEqual([]);
});

test("a listed form with a hyphen is replaced although it starts with a common word", async () => {
  const found = await replaceByText("en", toWords("our co-pilot here"), { Kopilot: ["co-pilot"] });
  expect(found.map(({ texts }) => texts)).toEqual([["Kopilot"]]);
});
