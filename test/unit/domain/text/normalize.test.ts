import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  canShareLetters,
  measureEditDistance,
  measureWordDistance,
  normalizeWords,
  toLetterSet,
  toSpokenText,
} from "../../../../src/domain/text/normalize";
import { spellNumbers, toCardinal, toOrdinal } from "../../../../src/domain/text/numbers";

const plain = (text: string, language: string | null = "en") => normalizeWords(text, language).join(" ");

describe("normalized words", () => {
  test.each([
    ["It’s 24, isn't it?", "its twenty four isnt it"],
    ["twenty-four", "twenty four"],
    ["Dr. Lee & Mr. Fox", "doctor lee and mister fox"],
    ["e.g. i.e. etc.", "for example that is et cetera"],
    ["1,250 bikes", "one thousand two hundred fifty bikes"],
    ["1,250.50", "one thousand two hundred fifty point five zero"],
    ["3.5 kg", "three point five kilograms"],
    ["about 40% more", "about forty percent more"],
    ["$5 or €12", "five dollars or twelve euros"],
    ["in 1999 and 2007", "in nineteen ninety nine and two thousand seven"],
    ["the 3rd of May, the 21st", "the third of may the twenty first"],
    ["at 5:30, at 9:05, at 7:00", "at five thirty at nine oh five at seven"],
    ["the 1990s", "the nineteen nineties"],
    ["offcut.dev or a@b.com", "offcut dot dev or a at b dot com"],
    ["“Quoted” — dashed – text…", "quoted dashed text"],
    ["Café déjà vu 🎬", "cafe deja vu"],
    ["007", "zero zero seven"],
    ["1920x1080", "nineteen twenty by one thousand eighty"],
  ])("%s", (text, words) => {
    expect(plain(text)).toBe(words);
  });

  test("digits stay digits in other languages", () => {
    expect(plain("24 Stunden", "de")).toBe("24 stunden");
  });

  test("writing without spaces yields a word for each character", () => {
    expect(plain("你好 world", "zh")).toBe("你 好 world");
  });

  test("punctuation alone yields no words", () => {
    expect(normalizeWords("… — 🎬 !")).toEqual([]);
  });

  test("a word of plain letters is the same without the rules for others", () => {
    const word = fc.string({ unit: fc.constantFrom(..."aAbdzZ"), minLength: 1 });
    fc.assert(fc.property(word, (text) => expect(normalizeWords(`${text},`)).toEqual(normalizeWords(`${text} '`))));
  });

  test("normalizing is idempotent", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const words = normalizeWords(text);
        for (const word of words) expect(word).toMatch(/^[\p{L}\p{N}]+$/u);
        expect(normalizeWords(words.join(" "))).toEqual(words);
      }),
    );
  });
});

describe("spoken text", () => {
  test("drops unspoken text", () => {
    expect(toSpokenText("“Stop” — he said… 🎬", false)).toBe("Stop, he said,");
  });
  test("spells numbers and symbols on request", () => {
    expect(toSpokenText("It costs $5, or 40% less.", true)).toBe("It costs five dollars, or forty percent less.");
  });
});

describe("numbers", () => {
  test.each([
    [0, "zero", "zeroth"],
    [13, "thirteen", "thirteenth"],
    [40, "forty", "fortieth"],
    [101, "one hundred one", "one hundred first"],
    [12_345, "twelve thousand three hundred forty five", "twelve thousand three hundred forty fifth"],
    [2_000_000, "two million", "two millionth"],
  ])("%d", (n, words, place) => {
    expect(toCardinal(n)).toBe(words);
    expect(toOrdinal(n)).toBe(place);
  });

  test("no digit is left", () => {
    fc.assert(fc.property(fc.string(), (text) => expect(spellNumbers(text)).not.toMatch(/[0-9]/)));
  });
});

describe("word distance", () => {
  test("misspelled words are near, other words are not", () => {
    expect(measureWordDistance("carrots", "carrots")).toBe(0);
    expect(measureWordDistance("carrots", "carrot")).toBeLessThan(0.5);
    expect(measureWordDistance("carrots", "window")).toBe(1);
  });

  test("is symmetric", () => {
    const word = fc.string({ minLength: 1 });
    fc.assert(fc.property(word, word, (a, b) => expect(measureWordDistance(a, b)).toBe(measureWordDistance(b, a))));
  });

  const countEdits = (a: string, b: string): number => {
    let row = Array.from({ length: b.length + 1 }, (_, j) => j);
    for (let i = 1; i <= a.length; i++) {
      const next = [i];
      for (let j = 1; j <= b.length; j++)
        next.push(Math.min(row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1), row[j]! + 1, next[j - 1]! + 1));
      row = next;
    }
    return row[b.length]!;
  };

  test("counts the edits of words", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "c", "é", "水", "😀"), maxLength: 40 });
    fc.assert(fc.property(word, word, (a, b) => expect(measureEditDistance(a, b)).toBe(countEdits(a, b))));
  });

  test("counts the edits of long words", () => {
    const letters = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 33, maxLength: 70, size: "max" });
    const word = letters.map((all) => all.join(""));
    fc.assert(fc.property(word, word, (a, b) => expect(measureEditDistance(a, b)).toBe(countEdits(a, b))));
  });

  test.each([31, 32, 33, 63, 64, 65])("counts the edits of words of %p letters", (length) => {
    const word = "abcdefg".repeat(10).slice(0, length);
    expect(measureEditDistance(word, `${word.slice(1)}x`)).toBe(2);
    expect(measureEditDistance(word, `x${word.slice(0, -1)}y`)).toBe(2);
    expect(measureEditDistance(word, word.toUpperCase())).toBe(length);
  });

  test("words that share too few letters to resemble each other are found without comparing them", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "c", "e", "é", "A", "!"), minLength: 1, maxLength: 9 });
    fc.assert(
      fc.property(word, word, (a, b) => {
        const share = measureEditDistance(a, b) / Math.max(a.length, b.length);
        if (share <= 0.5) expect(canShareLetters(a, b, toLetterSet(a), toLetterSet(b))).toBe(true);
        const isSimilar = share <= 0.34 || (share <= 0.5 && Math.max(a.length, b.length) >= 4);
        expect(measureWordDistance(a, b) < 1).toBe(isSimilar);
      }),
    );
  });
});
