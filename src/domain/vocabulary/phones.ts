/** How similar two spellings sound: names are compared by rough phones, because a recognizer writes an unknown name as it sounds to it. Pure. */

/** Letters that decomposition leaves as they are. */
const LETTERS: Record<string, string> = { ß: "ss", ł: "l", ø: "o", æ: "e", œ: "e", đ: "d", ð: "d", þ: "t", ı: "i" };

/** Spellings of sounds, tried in order at each place. A phone is one character: `S` is any of the sounds of "sh", "ch" and "j". */
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
  let rest = text
    .toLowerCase()
    .replace(/[ßłøæœđðþı]/g, (letter) => LETTERS[letter]!)
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

/** Cost of a phone that one spelling has and the other has not. */
const LOSS: Record<string, number> = { a: 0.3, h: 0.25, y: 0.3, w: 0.4, r: 0.6 };
const lossOf = (phone: string): number => LOSS[phone] ?? 0.8;

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
const COSTS = new Map(
  CONFUSIONS.flatMap(([[a, b] = "", cost]) => [
    [`${a}${b}`, cost],
    [`${b}${a}`, cost],
  ]),
);
const costOf = (a: string, b: string): number => (a === b ? 0 : (COSTS.get(a + b) ?? 1));

/** Returns the weight of the phones: the cost of losing all of them. */
export function weighPhones(phones: string): number {
  let sum = 0;
  for (const phone of phones) sum += lossOf(phone);
  return sum;
}

/** Returns the distance of two phone sequences: 0 for equal ones, about 1 for unrelated ones, and 1 if it is at least `limit`. */
export function measurePhoneDistance(a: string, b: string, limit = 1): number {
  const [one, other] = [weighPhones(a), weighPhones(b)];
  const longest = Math.max(one, other);
  if (longest === 0) return 0;
  if (Math.abs(one - other) >= limit * longest) return 1;
  const columns = [...b];
  let previous = [0];
  for (const phone of columns) previous.push(previous.at(-1)! + lossOf(phone));
  for (const phone of a) {
    const row = [previous[0]! + lossOf(phone)];
    for (const [j, column] of columns.entries())
      row.push(
        Math.min(previous[j]! + costOf(phone, column), previous[j + 1]! + lossOf(phone), row[j]! + lossOf(column)),
      );
    if (Math.min(...row) >= limit * longest) return 1;
    previous = row;
  }
  const distance = previous.at(-1)! / longest;
  return distance < limit ? distance : 1;
}
