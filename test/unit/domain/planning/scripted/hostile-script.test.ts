import { expect, test } from "bun:test";
import { parseScript } from "../../../../../src/domain/planning/scripted/script-lines";
import { fullOr } from "../../../../full-size";

const CHARACTERS = fullOr(200_000, 80_000);
const filled = (text: string) => text.repeat(Math.ceil(CHARACTERS / text.length)).slice(0, CHARACTERS);

// Parsing blocks its process. Each of these scripts once took minutes, or hours when five times as long.
test.each([
  ["one word", filled("x")],
  ["one number", filled("1")],
  ["grouped numbers that end in a letter", `${filled("1,111")}a`],
  ["no spaces and no full stop", filled("日本語")],
  ["one-letter sentences", filled("A. ")],
  ["a run of full stops before a letter", `${filled(".")}x`],
  ["comments that never end", filled("<!--")],
  ["links that never end", filled("[a](")],
  ["brackets that never close", filled("[")],
  ["braces that never close", filled("{")],
  ["directions that never close", filled("(pause ")],
  ["emphasis that never ends", filled(" *a")],
  ["a hundred thousand lines of a letter", filled("a\n")],
  ["as many lines without a letter, and one with", `${filled("-\n")}a`],
  ["bars", filled("|")],
  ["rows with a bar", filled("word here|and there\n")],
  ["rows with tabs and quotation marks that never close", filled('word\t"here and there\n')],
  ["spaces between two words", `a${filled(" ")}b`],
  ["names without dialogue", filled("ANNA LEE\n\n")],
  ["parts of timecodes", filled("[0:1")],
  ["subtitles", filled("1\n00:00:01,000 --> 00:00:02,000\nand on it goes\n\n")],
  ["emoji between two words", `a ${filled("😀")} b`],
])("a long script of %s is parsed in time", (_, script) => {
  expect(parseScript(script, "en").length).toBeLessThan(CHARACTERS);
});
