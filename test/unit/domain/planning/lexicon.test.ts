import { describe, expect, test } from "bun:test";
import { findLexicon } from "../../../../src/domain/planning/lexicon/find-lexicon";
import {
  hasRemarkCue,
  isContentWord,
  isFillerText,
  isStutterWord,
} from "../../../../src/domain/planning/lexicon/lexicon";
import { findRetakes } from "../../../../src/domain/planning/retakes/find-retakes";
import { tokenize } from "../../../../src/domain/planning/tokens";
import { spoken } from "./retakes/spoken";
import { runWithoutAlignment } from "./run-without-alignment";

/** The words that are removed as retakes in a language. */
function removedIn(language: string, text: string): string {
  const words = spoken(text);
  const { retakes } = runWithoutAlignment(findRetakes(words, tokenize(words, language), findLexicon(language)));
  return retakes.flatMap(({ from, to }) => words.slice(from, to).map((word) => word.text)).join(" ");
}

describe("a lexicon knows its language", () => {
  test.each([
    ["en", "um", "the", "wall", "sorry one more time"],
    ["de", "ähm", "und", "Wand", "Entschuldigung noch einmal"],
    ["es", "ehm", "el", "pared", "perdón otra vez"],
    ["fr", "euh", "le", "mur", "pardon je recommence"],
  ])("%s", (language, filler, functionWord, contentWord, remark) => {
    const lexicon = findLexicon(language);
    const normal = (text: string) =>
      tokenize(spoken(text), language)
        .map((token) => token.normal)
        .join(" ");
    expect(isFillerText(filler, lexicon)).toBe(true);
    expect(isStutterWord(normal(functionWord), lexicon)).toBe(true);
    expect([functionWord, contentWord].map((word) => isContentWord(normal(word), lexicon))).toEqual([false, true]);
    expect([remark, contentWord].map((text) => hasRemarkCue(normal(text), lexicon))).toEqual([true, false]);
  });

  test("English words mean nothing in other languages", () => {
    for (const language of ["de", "it"]) {
      const lexicon = findLexicon(language);
      expect(["um", "uh"].map((word) => isFillerText(word, lexicon))).toEqual([false, false]);
      expect(["the", "were"].map((word) => isStutterWord(word, lexicon))).toEqual([false, false]);
    }
  });

  test("a variant of a language has its lexicon, an unknown language the English one", () => {
    expect(findLexicon("de-AT")).toBe(findLexicon("de"));
    expect(findLexicon(null)).toBe(findLexicon("en"));
    expect(findLexicon("fi").fillerTexts).toEqual([]);
  });
});

describe("restarts in other languages are removed", () => {
  test.each([
    ["a stutter", "de", "und dann gehen wir in in die Stadt.", "in"],
    ["a false start", "de", "zuerst messen wir / zuerst messen wir die Wand genau.", "zuerst messen wir"],
    ["a stutter", "es", "vamos a medir la la pared del salón.", "la"],
    ["a line again", "es", "primero medimos la pared. / primero medimos la pared.", "primero medimos la pared."],
    ["a stutter", "fr", "nous allons mesurer le le mur du salon.", "le"],
    ["a false start", "fr", "ensuite il faut percer / ensuite il faut percer deux trous.", "ensuite il faut percer"],
    [
      "a line again without a lexicon",
      "it",
      "prima misuriamo il muro. / prima misuriamo il muro.",
      "prima misuriamo il muro.",
    ],
  ])("%s in %s", (_, language, text, expected) => {
    expect(removedIn(language, text)).toBe(expected);
  });
});

describe("fluent speech in other languages stays", () => {
  test.each([
    ["relative pronouns", "de", "das sind die, die die Wand gestrichen haben, und das, das das Kind sah."],
    ["words that are doubled", "de", "es war so so, und ihr ihr Buch gab sie sie."],
    ["courtesy", "de", "danke. / danke schön euch allen."],
    ["emphasis", "de", "das ist ein sehr sehr langer Weg."],
    ["courtesy", "es", "muchas gracias. / muchas gracias a todos por venir."],
    ["emphasis", "es", "no, no, eso es muy muy difícil."],
    ["reflexive pronouns", "fr", "nous nous sommes levés et vous vous êtes assis."],
    ["emphasis", "fr", "c'est très très loin, non, non."],
    ["numbers", "fr", "le code est deux deux trois, deux deux trois."],
    ["a function word without a lexicon", "it", "che che sia, la la la."],
  ])("%s in %s", (_, language, text) => {
    expect(removedIn(language, text)).toBe("");
  });
});
