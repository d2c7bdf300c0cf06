/** Numbers in English words. */

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

/** The words of spoken numbers, normalized. */
export const NUMBER_WORDS: ReadonlySet<string> = new Set([
  ...ONES,
  ...TENS.slice(2),
  ...SCALES.map(([, name]) => name),
]);

/** Returns a whole number of at most 15 digits in words: `twenty four` for 24. */
export function toCardinal(n: number): string {
  if (n < 20) return ONES[n]!;
  if (n < 100) return TENS[Math.floor(n / 10)]! + (n % 10 ? ` ${ONES[n % 10]}` : "");
  for (const [size, name] of SCALES) {
    if (n < size) continue;
    const rest = n % size;
    return `${toCardinal(Math.floor(n / size))} ${name}${rest ? ` ${toCardinal(rest)}` : ""}`;
  }
  return String(n);
}

/** Returns the ordinal of a whole number in words: `twenty fourth` for 24. */
export function toOrdinal(n: number): string {
  const words = toCardinal(n).split(" ");
  const last = words.pop()!;
  const end = ORDINALS[last] ?? (last.endsWith("y") ? `${last.slice(0, -1)}ieth` : `${last}th`);
  return [...words, end].join(" ");
}

/** Returns a four-digit number as it is read: `nineteen ninety nine` for 1999, `two thousand seven` for 2007. */
function toYear(n: number): string {
  const high = Math.floor(n / 100);
  const low = n % 100;
  if (n % 1000 < 10) return toCardinal(n);
  if (low === 0) return `${toCardinal(high)} hundred`;
  return `${toCardinal(high)} ${low < 10 ? `oh ${toCardinal(low)}` : toCardinal(low)}`;
}

const toDigits = (text: string) => [...text].map((digit) => ONES[Number(digit)]!).join(" ");

function toWholeNumber(text: string): string {
  if (text.length > 15 || (text.length > 1 && text.startsWith("0"))) return toDigits(text);
  const n = Number(text);
  return n >= 1100 && n < 2100 && text.length === 4 ? toYear(n) : toCardinal(n);
}

/** Spells out every number in a text: grouped thousands, decimals, clock times, ordinals, decades, mixed digits. */
export function spellNumbers(text: string): string {
  return text
    .replace(/\b(\d{1,3}(?:,\d{3}){1,12})(\.\d+)?\b/g, (_, grouped: string, decimals = "") =>
      toGroupedNumber(grouped, decimals),
    )
    .replace(
      /\b(\d{1,2}):(\d{2})\b/g,
      (_, hour: string, minute: string) => ` ${toClockTime(Number(hour), Number(minute))} `,
    )
    .replace(/\b(\d+)(?:st|nd|rd|th)\b/gi, (_, n: string) => (n.length > 15 ? toDigits(n) : toOrdinal(Number(n))))
    .replace(/\b(\d{3})0'?s\b/g, (_, n: string) => toDecade(Number(n) * 10))
    .replace(
      /(?<!\d)(\d+)\.(\d+)/g,
      (_, n: string, decimals: string) => ` ${toWholeNumber(n)} point ${toDigits(decimals)} `,
    )
    .replace(/\d+/g, (n) => ` ${toWholeNumber(n)} `);
}

/** Returns a grouped number in words. "1,250" is never a year; the decimals of "1,250.50" are read digit by digit. */
function toGroupedNumber(grouped: string, decimals: string): string {
  const plain = grouped.replace(/,/g, "");
  if (plain.length > 15) return toDigits(plain);
  return ` ${toCardinal(Number(plain))} ${decimals === "" ? "" : `point ${toDigits(decimals.slice(1))} `}`;
}

function toClockTime(hour: number, minute: number): string {
  if (minute === 0) return toCardinal(hour);
  return `${toCardinal(hour)} ${minute < 10 ? "oh " : ""}${toCardinal(minute)}`;
}

function toDecade(n: number): string {
  const words = toYear(n);
  return words.endsWith("y") ? `${words.slice(0, -1)}ies` : `${words}s`;
}
