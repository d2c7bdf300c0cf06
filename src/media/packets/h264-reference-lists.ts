/** The reference picture lists of a slice of progressive H.264 (ITU-T H.264, 8.2.4). Pure. */
import type { ListCommand, SliceHeader } from "./h264-slice-header";

/**
 * A reference picture since the intra picture, and how many pictures are decoded between them. `order` relative to it.
 * `newNumber` null: the picture was dropped.
 */
export type Reference = { position: number; number: number; order: number; newNumber: number | null };

export type ActiveContext = {
  /** The references in the source since the intra picture, in decode order. */
  source: readonly Reference[];
  order: number;
  numberModulus: number;
  /** Whether no picture before the intra picture is a reference in the source. */
  isSettled: boolean;
};

export const wrap = (value: number, modulus: number): number => ((value % modulus) + modulus) % modulus;

/** Returns a list before its modifications. */
export const toInitialList = ({ kind }: SliceHeader, list: 0 | 1, references: readonly Reference[], order: number) =>
  kind === "P" ? references.toReversed() : sortForBiprediction(references, order, list);

/**
 * Returns the pictures in each list of a slice, modified. Errors: a plain `Error` for a picture before the intra
 * picture.
 */
export function listActiveReferences(header: SliceHeader, context: ActiveContext): Reference[][] {
  const { kind, references, commands, frameNumber } = header;
  if (kind === "I") return [];
  const { source, order, numberModulus } = context;
  const { before, after } = divideByOrder(source, order);
  // Pictures before the intra picture may follow these in the source's list 0, and decide whether its lists are equal.
  const isUncertain = kind === "B" && !context.isSettled;
  if (isUncertain && after.length === 0) throw new Error("A picture may refer to one before the intra picture.");
  const lists = kind === "P" ? ([0] as const) : ([0, 1] as const);
  return lists.map((list) => {
    const initial = isUncertain && list === 0 ? before : toInitialList(header, list, source, order);
    const found = applyCommands(initial, commands[list], { source, frameNumber, numberModulus });
    const active = found.slice(0, references[list]);
    if (active.length < references[list]) throw new Error("A picture refers to one before the intra picture.");
    return active;
  });
}

const divideByOrder = (references: readonly Reference[], order: number) => ({
  before: references.filter((reference) => reference.order < order).toSorted((a, b) => b.order - a.order),
  after: references.filter((reference) => reference.order > order).toSorted((a, b) => a.order - b.order),
});

/** Returns a list in the order of 8.2.4.2.3: the nearest pictures before (list 0) or after (list 1) come first. */
function sortForBiprediction(references: readonly Reference[], order: number, list: 0 | 1): Reference[] {
  const { before, after } = divideByOrder(references, order);
  if (list === 0) return [...before, ...after];
  const sorted = [...after, ...before];
  const isSameAsOther = after.length === 0 || before.length === 0;
  return isSameAsOther && sorted.length > 1 ? [sorted[1]!, sorted[0]!, ...sorted.slice(2)] : sorted;
}

type CommandContext = { source: readonly Reference[]; frameNumber: number; numberModulus: number };

/** Applies the modifications of a list (8.2.4.3). Errors: a plain `Error` for a picture before the intra picture. */
function applyCommands(
  initial: readonly Reference[],
  commands: readonly ListCommand[] | null,
  { source, frameNumber, numberModulus }: CommandContext,
): Reference[] {
  let list = [...initial];
  let predicted = frameNumber;
  for (const [at, { idc, difference }] of (commands ?? []).entries()) {
    predicted = wrap(predicted + (idc === 0 ? -difference : difference), numberModulus);
    const reference = source.find(({ number }) => number === predicted);
    if (reference === undefined) throw new Error("A picture refers to one before the intra picture.");
    list = [...list.slice(0, at), reference, ...list.slice(at).filter((other) => other !== reference)];
  }
  return list;
}
