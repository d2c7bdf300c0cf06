/**
 * How similar two spellings sound: names are compared by rough phones, because a recognizer writes an unknown name as
 * it sounds to it. Pure.
 */

/** Letters that decomposition leaves as they are. */
const LETTERS: Record<string, string> = { ß: "ss", ł: "l", ø: "o", æ: "e", œ: "e", đ: "d", ð: "d", þ: "t", ı: "i" };

/** Returns a text without accents on Latin letters, as recognizers of English write it. */
export const removeAccents = (text: string): string =>
  text
    .replace(/[ßłøæœđðþı]/giu, (letter) => {
      const plain = LETTERS[letter.toLowerCase()]!;
      return letter === letter.toLowerCase() ? plain : plain.toUpperCase();
    })
    .normalize("NFKD")
    .replace(/(?<=\p{sc=Latin})\p{M}+/gu, "")
    .normalize("NFC");

/**
 * Spellings of sounds, tried in order at each place. A phone is one character: `S` is any of the sounds of "sh", "ch"
 * and "j".
 */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/^tsch|^tch|^sch|^szcz|^dzh|^dg(?=[eiy])/, "S"],
  [/^tch|^cz|^sz|^sh|^ch|^zh|^rz|^tj/, "S"],
  [/^ti(?=on|a|ous)/, "S"],
  [/^j/, "S"],
  [/^ph/, "f"],
  [/^th/, "t"],
  [/^gh/, "g"],
  [/^ck|^cq|^qu?|^kh/, "k"],
  [/^sc(?=[eiy])/, "s"],
  [/^tz|^ts/, "s"],
  [/^c(?=[eiy])/, "s"],
  [/^c/, "k"],
  [/^x/, "ks"],
  [/^g(?=[eiy])/, "J"],
  [/^[aeiou]+/, "a"],
];
const SPELLED_PHONES = /^[bdfgklmnprstvwzhy]/;

/** Returns the phones of a text. Letters of other scripts are phones of their own. */
export function toPhones(text: string): string {
  let rest = removeAccents(text.toLowerCase())
    .normalize("NFKD")
    .replace(/[^\p{L}\p{N}]/gu, "");
  let phones = "";
  while (rest !== "") {
    const found = SPELLINGS.find(([pattern]) => pattern.test(rest));
    const length = found ? found[0].exec(rest)![0].length : 1;
    const phone = found ? found[1] : SPELLED_PHONES.test(rest) ? rest[0]! : [...rest][0]!;
    if (!phones.endsWith(phone)) phones += phone;
    rest = rest.slice(found ? length : phone.length);
  }
  return phones;
}

/** Phones below this number have their costs in tables. */
const TABLE_SIZE = 128;
const DEFAULT_LOSS = 0.8;
/** Cost of a phone that one spelling has and the other has not. */
const LOSSES = new Float64Array(TABLE_SIZE).fill(DEFAULT_LOSS);
for (const [phone, loss] of Object.entries({ a: 0.3, h: 0.25, y: 0.3, w: 0.4, r: 0.6 }))
  LOSSES[phone.codePointAt(0)!] = loss;
const lossOf = (phone: number): number => (phone < TABLE_SIZE ? LOSSES[phone]! : DEFAULT_LOSS);

/** Phones that recognizers confuse, and the cost of taking one for the other. */
const CONFUSIONS: readonly (readonly [string, number])[] = [
  ["bp", 0.25],
  ["dt", 0.2],
  ["gk", 0.25],
  ["fv", 0.2],
  ["vw", 0.2],
  ["fw", 0.4],
  ["bv", 0.35],
  ["sz", 0.1],
  ["sS", 0.3],
  ["zS", 0.3],
  ["SJ", 0.1],
  ["gJ", 0.1],
  ["kJ", 0.4],
  ["yJ", 0.4],
  ["yS", 0.5],
  ["ay", 0.1],
  ["aw", 0.3],
  ["ah", 0.4],
  ["mn", 0.35],
  ["lr", 0.5],
  ["kh", 0.4],
  ["gh", 0.4],
  ["Sk", 0.4],
  ["tS", 0.5],
  ["ts", 0.6],
  ["td", 0.2],
  ["al", 0.5],
  ["ar", 0.45],
];
const COSTS = new Float64Array(TABLE_SIZE * TABLE_SIZE).fill(1);
for (let phone = 0; phone < TABLE_SIZE; phone++) COSTS[phone * TABLE_SIZE + phone] = 0;
for (const [pair, cost] of CONFUSIONS) {
  const [a, b] = [pair.codePointAt(0)!, pair.codePointAt(1)!];
  COSTS[a * TABLE_SIZE + b] = cost;
  COSTS[b * TABLE_SIZE + a] = cost;
}
function costOf(a: number, b: number): number {
  if (a < TABLE_SIZE && b < TABLE_SIZE) return COSTS[a * TABLE_SIZE + b]!;
  return a === b ? 0 : 1;
}

/** The phones of a text as numbers, and the cost of losing all of them. */
export type Pronunciation = { phones: Uint32Array; weight: number };

export function toPronunciation(phones: string): Pronunciation {
  const numbers = Uint32Array.from(phones, (phone) => phone.codePointAt(0)!);
  return { phones: numbers, weight: numbers.reduce((sum, phone) => sum + lossOf(phone), 0) };
}

/**
 * The rows of `measureDistance`. They are kept, because a vocabulary is compared with a recording millions of times.
 */
let previous = new Float64Array(64);
let row = new Float64Array(64);

/**
 * Returns the distance of two pronunciations: 0 for equal ones, about 1 for unrelated ones, and 1 if it is at least
 * `limit`.
 */
export function measureDistance(a: Pronunciation, b: Pronunciation, limit = 1): number {
  const longest = Math.max(a.weight, b.weight);
  if (longest === 0) return 0;
  const most = limit * longest;
  if (Math.abs(a.weight - b.weight) >= most) return 1;
  const columns = b.phones;
  if (columns.length >= row.length) {
    previous = new Float64Array(2 * columns.length);
    row = new Float64Array(2 * columns.length);
  }
  previous[0] = 0;
  for (let j = 0; j < columns.length; j++) previous[j + 1] = previous[j]! + lossOf(columns[j]!);
  for (const phone of a.phones) {
    const loss = lossOf(phone);
    let least = previous[0]! + loss;
    row[0] = least;
    for (let j = 0; j < columns.length; j++) {
      const column = columns[j]!;
      const changed = previous[j]! + costOf(phone, column);
      const cost = Math.min(changed, previous[j + 1]! + loss, row[j]! + lossOf(column));
      row[j + 1] = cost;
      if (cost < least) least = cost;
    }
    if (least >= most) return 1;
    [previous, row] = [row, previous];
  }
  const distance = previous[columns.length]! / longest;
  return distance < limit ? distance : 1;
}
