/**
 * Measures how similar two spellings sound. Compares rough phones, because recognizers spell unknown names as they
 * sound. Pure.
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

/**
 * The profiles of phones, in thousandths: two of them differ at most by the cost of taking one phone for the other, and
 * a profile is at most the cost of losing its phone. The profile of a text is the sum of those of its phones, so the
 * profiles of two texts differ at most by the cost of taking one text for the other. Texts with more distant profiles
 * need not be compared.
 */
const PROFILES: Record<string, readonly number[]> = {
  a: [300],
  y: [300],
  h: [250],
  w: [300, 100],
  v: [300, 300],
  f: [300, 500],
  b: [300, 300, 200],
  p: [300, 175, 325],
  t: [300, 0, 0, 275, 125],
  d: [300, 0, 0, 400, 50],
  s: [300, 0, 0, 0, 400, 50],
  z: [300, 0, 0, 0, 400, 50],
  S: [300, 0, 0, 0, 175, 125],
  J: [300, 0, 0, 0, 150, 150],
  g: [300, 0, 0, 0, 100, 200],
  k: [300, 0, 0, 0, 0, 350],
  m: [300, 0, 0, 0, 0, 0, 500],
  n: [300, 0, 0, 0, 0, 0, 325, 175],
  l: [300, 0, 0, 0, 0, 0, 0, 0, 500],
  r: [300, 0, 0, 0, 0, 0, 0, 0, 150, 150],
};
const OTHER_PROFILE = [300, 0, 0, 0, 0, 0, 0, 0, 0, 0, 500];
export const PROFILE_SIZE = OTHER_PROFILE.length;
const PROFILE_UNIT = 1_000;

/**
 * The phones of a text as numbers, the cost of losing each of them and all of them, and their profile. `rests` are the
 * sums of the profiles of the phones from each place on.
 */
export type Pronunciation = {
  phones: Uint32Array;
  losses: Float64Array;
  weight: number;
  profile: Int32Array;
  rests: Float64Array;
};

export function toPronunciation(phones: string): Pronunciation {
  const numbers = Uint32Array.from(phones, (phone) => phone.codePointAt(0)!);
  const profile = new Int32Array(PROFILE_SIZE);
  const rests = new Float64Array(numbers.length + 1);
  for (let i = numbers.length - 1; i >= 0; i--) {
    const parts = PROFILES[String.fromCodePoint(numbers[i]!)] ?? OTHER_PROFILE;
    rests[i] = rests[i + 1]!;
    for (let n = 0; n < parts.length; n++) {
      profile[n] = profile[n]! + parts[n]!;
      rests[i] = rests[i]! + parts[n]! / PROFILE_UNIT;
    }
  }
  const losses = Float64Array.from(numbers, lossOf);
  return { phones: numbers, losses, weight: losses.reduce((sum, loss) => sum + loss, 0), profile, rests };
}

/** Returns the least cost of taking one text for another, whose profile is in a list of profiles. */
export function measureLeastCost({ profile }: Pronunciation, profiles: Int32Array, start = 0): number {
  let sum = 0;
  for (let n = 0; n < PROFILE_SIZE; n++) sum += Math.abs(profile[n]! - profiles[start + n]!);
  return sum / PROFILE_UNIT;
}

/** Sums of costs differ by less from those of other orders. */
export const ROUNDING = 1e-9;

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
  if (measureLeastCost(a, b.profile) >= most + ROUNDING) return 1;
  const [columns, losses, rests] = [b.phones, b.losses, b.rests];
  const last = columns.length;
  if (last + 2 > row.length) {
    previous = new Float64Array(2 * last + 2);
    row = new Float64Array(2 * last + 2);
  }
  // Only cells from which `most` can be met count: those of a row are from `low` to before `high`.
  let low = 0;
  let high = 1;
  previous[0] = 0;
  for (; high <= last && previous[high - 1]! < most; high++) previous[high] = previous[high - 1]! + losses[high - 1]!;
  // Iterators of typed arrays take several times as long as an index.
  for (let i = 0; i < a.phones.length; i++) {
    const phone = a.phones[i]!;
    const loss = a.losses[i]!;
    let left = Number.POSITIVE_INFINITY;
    let diagonal = left;
    const rest = a.rests[i + 1]!;
    let first = -1;
    let end = low;
    let column = low;
    for (; column <= last && (column <= high || column <= end); column++) {
      const above = column < high ? previous[column]! : Number.POSITIVE_INFINITY;
      let cost = above + loss;
      if (column > 0) {
        const changed = diagonal + costOf(phone, columns[column - 1]!);
        if (changed < cost) cost = changed;
        const added = left + losses[column - 1]!;
        if (added < cost) cost = added;
      }
      row[column] = cost;
      if (cost + Math.abs(rest - rests[column]!) < most + ROUNDING) {
        if (first < 0) first = column;
        end = column + 1;
      }
      diagonal = above;
      left = cost;
    }
    if (first < 0) return 1;
    low = first;
    high = end;
    [previous, row] = [row, previous];
  }
  if (high <= last) return 1;
  const distance = previous[last]! / longest;
  return distance < limit ? distance : 1;
}
