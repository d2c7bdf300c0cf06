/** Numbers as English speakers say them. */

const ONES =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const SCALES: [number, string][] = [
  [1e12, "trillion"],
  [1e9, "billion"],
  [1e6, "million"],
  [1e3, "thousand"],
  [100, "hundred"],
];
const ORDINALS: Record<string, string> = {
  one: "first",
  two: "second",
  three: "third",
  five: "fifth",
  eight: "eighth",
  nine: "ninth",
  twelve: "twelfth",
};

const NUMBERS = new Set([...ONES, ...TENS.slice(2), ...SCALES.map(([, name]) => name)]);

/** Whether a normal word is part of a number as it is said. */
export const isNumberWord = (word: string): boolean => NUMBERS.has(word);

/** A whole number of at most 15 digits in words: 24 is `twenty four`. */
export function cardinal(n: number): string {
  if (n < 20) return ONES[n]!;
  if (n < 100) return TENS[Math.floor(n / 10)]! + (n % 10 ? ` ${ONES[n % 10]}` : "");
  for (const [size, name] of SCALES) {
    if (n < size) continue;
    const rest = n % size;
    return `${cardinal(Math.floor(n / size))} ${name}${rest ? ` ${cardinal(rest)}` : ""}`;
  }
  return String(n);
}

/** The ordinal of a whole number in words: 24 is `twenty fourth`. */
export function ordinal(n: number): string {
  const words = cardinal(n).split(" ");
  const last = words.pop()!;
  const end = ORDINALS[last] ?? (last.endsWith("y") ? `${last.slice(0, -1)}ieth` : `${last}th`);
  return [...words, end].join(" ");
}

/** A year or a number of four digits as it is usually read: 1999 is `nineteen ninety nine`, 2007 `two thousand seven`. */
function year(n: number): string {
  const high = Math.floor(n / 100);
  const low = n % 100;
  if (n % 1000 < 10) return cardinal(n);
  if (low === 0) return `${cardinal(high)} hundred`;
  return `${cardinal(high)} ${low < 10 ? `oh ${cardinal(low)}` : cardinal(low)}`;
}

const digits = (text: string) => [...text].map((digit) => ONES[Number(digit)]!).join(" ");

function whole(text: string): string {
  if (text.length > 15 || (text.length > 1 && text.startsWith("0"))) return digits(text);
  const n = Number(text);
  return n >= 1100 && n < 2100 && text.length === 4 ? year(n) : cardinal(n);
}

/** The text with every number in words: grouped thousands, decimals, clock times, ordinals, decades, digits among letters. */
export function numberWords(text: string): string {
  return text
    .replace(/\b(\d{1,3}(?:,\d{3}){1,12})(\.\d+)?\b/g, (_, grouped: string, decimals = "") =>
      groupedWords(grouped, decimals),
    )
    .replace(/\b(\d{1,2}):(\d{2})\b/g, (_, hour: string, minute: string) => ` ${clock(Number(hour), Number(minute))} `)
    .replace(/\b(\d+)(?:st|nd|rd|th)\b/gi, (_, n: string) => (n.length > 15 ? digits(n) : ordinal(Number(n))))
    .replace(/\b(\d{3})0'?s\b/g, (_, n: string) => decade(Number(n) * 10))
    .replace(/(?<!\d)(\d+)\.(\d+)/g, (_, n: string, decimals: string) => ` ${whole(n)} point ${digits(decimals)} `)
    .replace(/\d+/g, (n) => ` ${whole(n)} `);
}

/** "1,250" is never a year, and in "1,250.50" the rest is said digit by digit. */
function groupedWords(grouped: string, decimals: string): string {
  const plain = grouped.replace(/,/g, "");
  if (plain.length > 15) return digits(plain);
  return ` ${cardinal(Number(plain))} ${decimals === "" ? "" : `point ${digits(decimals.slice(1))} `}`;
}

function clock(hour: number, minute: number): string {
  if (minute === 0) return cardinal(hour);
  return `${cardinal(hour)} ${minute < 10 ? "oh " : ""}${cardinal(minute)}`;
}

function decade(n: number): string {
  const words = year(n);
  return words.endsWith("y") ? `${words.slice(0, -1)}ies` : `${words}s`;
}
