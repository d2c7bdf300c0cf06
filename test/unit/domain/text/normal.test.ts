import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  createDistanceCache,
  editDistance,
  normalWords,
  spokenText,
  wordDistance,
} from "../../../../src/domain/text/normal";
import { cardinal, numberWords, ordinal } from "../../../../src/domain/text/numbers";

const plain = (text: string, language: string | null = "en") => normalWords(text, language).join(" ");

describe("normal words", () => {
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

  test("figures stay figures in other languages", () => {
    expect(plain("24 Stunden", "de")).toBe("24 stunden");
  });

  test("writing without spaces gives a word for each character", () => {
    expect(plain("你好 world", "zh")).toBe("你 好 world");
  });

  test("nothing but marks gives no words", () => {
    expect(normalWords("… — 🎬 !")).toEqual([]);
  });

  test("normal words are their own normal form", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const words = normalWords(text);
        for (const word of words) expect(word).toMatch(/^[\p{L}\p{N}]+$/u);
        expect(normalWords(words.join(" "))).toEqual(words);
      }),
    );
  });
});

describe("spoken text", () => {
  test("leaves out what is only seen", () => {
    expect(spokenText("“Stop” — he said… 🎬", false)).toBe("Stop, he said,");
  });
  test("spells figures and signs on request", () => {
    expect(spokenText("It costs $5, or 40% less.", true)).toBe("It costs five dollars, or forty percent less.");
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
    expect(cardinal(n)).toBe(words);
    expect(ordinal(n)).toBe(place);
  });

  test("no digit is left", () => {
    fc.assert(fc.property(fc.string(), (text) => expect(numberWords(text)).not.toMatch(/[0-9]/)));
  });
});

describe("distance of words", () => {
  test("misspelled words are near, others are not", () => {
    expect(wordDistance("carrots", "carrots")).toBe(0);
    expect(wordDistance("carrots", "carrot")).toBeLessThan(0.5);
    expect(wordDistance("carrots", "window")).toBe(1);
  });

  test("is symmetric, and remembered as it is", () => {
    const remembered = createDistanceCache();
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (a, b) => {
        expect(editDistance(a, b)).toBe(editDistance(b, a));
        expect(wordDistance(a, b)).toBe(wordDistance(b, a));
        expect(remembered(a, b)).toBe(wordDistance(a, b));
        expect(remembered(a, b)).toBe(wordDistance(a, b));
      }),
    );
  });
});
