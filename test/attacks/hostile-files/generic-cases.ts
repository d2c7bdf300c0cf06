/**
 * Mutations of any file whose structures are known: truncating it, inverting bits, swapping, repeating and joining
 * structures, and filling them with zeros or noise.
 */
import { type Bytes, concat, flipBit, overwrite, splice, zeros } from "./bytes";
import type { ContainerCases, Structure } from "./cases";
import type { Random } from "./random";

type Mutation = (options: { base: Bytes; structures: Structure[]; random: Random; other: Bytes }) => Bytes;

const MEDIA_HEAD_BYTES = 4_096;

/** Mutations by name. `other` is a valid file of another container. */
export const GENERIC: Record<string, Mutation> = {
  "cut off at a boundary": ({ base, structures, random }) => {
    const { start, headerEnd, end } = random.pick(structures.filter((found) => found.end > 64));
    const places = [start, headerEnd, headerEnd - 1, end - 1, end, (start + end) >> 1].filter(
      (at) => at > 63 && at < base.length,
    );
    return base.slice(0, places.length === 0 ? base.length - 1 : random.pick(places));
  },
  "one bit of a header inverted": ({ base, structures, random }) => flipInHeader(base, structures, random, 1),
  "five bits of headers inverted": ({ base, structures, random }) => flipInHeader(base, structures, random, 5),
  "a byte of a body replaced by 255": ({ base, structures, random }) => {
    const { headerEnd, end } = random.pick(structures.filter((found) => found.end > found.headerEnd));
    return overwrite(base, headerEnd + random.below(Math.min(64, end - headerEnd)), Uint8Array.of(255));
  },
  "a number in a body replaced by 2^32-1": ({ base, structures, random }) => {
    const { headerEnd, end } = random.pick(structures.filter((found) => found.end > found.headerEnd + 4));
    return overwrite(base, headerEnd + random.below(Math.min(64, end - headerEnd - 4)), new Uint8Array(4).fill(255));
  },
  "a bit in a hundred inverted": ({ base, random }) => flipMany(base, random, base.length >> 4),
  "a few bits inverted": ({ base, random }) => flipMany(base, random, 8),
  "a structure filled with zeros": ({ base, structures, random }) => {
    const { headerEnd, end } = random.pick(inner(structures, base));
    return overwrite(base, headerEnd, zeros(end - headerEnd));
  },
  "a structure twice": ({ base, structures, random }) => {
    const { start, end } = random.pick(inner(structures, base));
    return splice(base, end, end, base.subarray(start, end));
  },
  "a structure left out": ({ base, structures, random }) => {
    const { start, end } = random.pick(inner(structures, base));
    return splice(base, start, end);
  },
  "two structures swapped": ({ base, structures, random }) => {
    const [a, b] = [random.pick(inner(structures, base)), random.pick(inner(structures, base))].sort(
      (x, y) => x.start - y.start,
    );
    if (!a || !b || a.end > b.start) return flipMany(base, random, 16);
    const [first, second] = [base.subarray(a.start, a.end), base.subarray(b.start, b.end)];
    return concat(base.subarray(0, a.start), second, base.subarray(a.end, b.start), first, base.subarray(b.end));
  },
  "glued to a file of another kind": ({ base, other, random }) =>
    random.below(2) ? concat(base, other) : concat(base.subarray(0, base.length >> 1), other),
  "a megabyte of zeros in the middle": ({ base, structures, random }) => {
    const { start } = random.pick(inner(structures, base));
    return splice(base, start, start, zeros(2 ** 20));
  },
  "a valid beginning, then noise": ({ base, random }) => {
    const kept = Math.min(MEDIA_HEAD_BYTES, base.length >> 1);
    return concat(base.subarray(0, kept), random.bytes(60_000));
  },
  "a valid file, then zeros": ({ base }) => concat(base, zeros(2 ** 20)),
};

/** Spoils one of a container's base files in one of the ways above. */
export function spoil(name: string, container: ContainerCases, others: readonly Bytes[], random: Random): Bytes {
  const base = random.pick(container.bases);
  const made = GENERIC[name]!({ base, structures: container.walk(base), random, other: random.pick(others) });
  return made.length === base.length && made.every((value, n) => value === base[n]) ? flipBit(base, 8 * 9 + 1) : made;
}

/** Structures that are not the whole file. */
const inner = (structures: Structure[], base: Bytes): Structure[] => {
  const found = structures.filter(({ start, end }) => start > 0 && end > start && end - start < base.length * 0.9);
  return found.length === 0 ? structures : found;
};

function flipInHeader(base: Bytes, structures: Structure[], random: Random, count: number): Bytes {
  let changed = base;
  for (let n = 0; n < count; n++) {
    const { start, headerEnd } = random.pick(structures);
    changed = flipBit(changed, start * 8 + random.below(Math.max(8, (headerEnd - start) * 8)));
  }
  return changed;
}

function flipMany(base: Bytes, random: Random, count: number): Bytes {
  const changed = base.slice();
  for (let n = 0; n < count; n++) changed[random.below(changed.length)]! ^= 1 << random.below(8);
  return changed;
}
