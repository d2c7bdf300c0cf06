/**
 * Starts a copy at an intra picture that is not IDR, as encoders with open GOPs write them (ITU-T H.264, 7.3.3 and
 * 8.2). The picture becomes an IDR picture, and the ones after it are renumbered up to the next IDR picture. That is
 * exact where every kept picture refers to pictures since the intra picture only, which is checked for each list of
 * each slice. Pure.
 */
import { addEmulationPrevention, formatExpGolomb, removeEmulationPrevention, replaceBits } from "./bits";
import { type AvcConfig, getNalType, isSlice, NAL_IDR } from "./h264";
import { parseSequenceFacts, type SequenceFacts } from "./h264-pictures";
import {
  type ListCommand,
  type PictureFacts,
  parsePictureFacts,
  parseSliceHeader,
  type SliceHeader,
} from "./h264-slice-header";

export type RecoveryRewriter = ReturnType<typeof createRewriter>;

/** A reference picture since the intra picture. `order` relative to it. `newNumber` null: the picture was dropped. */
type Reference = { number: number; order: number; newNumber: number | null };

const NAL_SEI = 6;
/** Differs from the ID 0 of encoders whose picture may precede. */
const IDR_PICTURE_ID = 1;

const wrap = (value: number, modulus: number): number => ((value % modulus) + modulus) % modulus;

/**
 * Returns the rewriter for a stream that starts with an intra picture, or null if the parameter sets or the first
 * picture do not allow it. The first call of `rewrite` takes the same units.
 */
export function createRecoveryRewriter(config: AvcConfig, units: readonly Uint8Array[]): RecoveryRewriter | null {
  const sequence = config.sps.length === 1 ? parseSequenceFacts(config.sps[0]!) : null;
  const parsed = config.pps.map(parsePictureFacts);
  if (sequence === null || sequence.hasFieldsOnly || parsed.includes(null)) return null;
  const parameterSets = new Map(parsed.map((entry) => [entry!.id, entry!.facts]));
  try {
    const slices = units.filter(isSlice).map((nal) => parseSliceHeader(nal, sequence, parameterSets));
    const isIntra = slices.length > 0 && slices.every(({ kind, isReference }) => kind === "I" && isReference);
    return isIntra ? createRewriter(sequence, parameterSets, slices[0]!) : null;
  } catch {
    return null;
  }
}

function createRewriter(sequence: SequenceFacts, parameterSets: ReadonlyMap<number, PictureFacts>, first: SliceHeader) {
  const numberModulus = 2 ** sequence.frameNumberBits;
  const orderModulus = 2 ** (sequence.orderBits ?? 4);
  let source: Reference[] = [];
  let kept: Reference[] = [];
  /** Number of reference pictures, and of those that are kept. */
  let count = 0;
  let keptCount = 0;
  let hasStarted = false;
  let isDone = false;
  /** Whether the maximum number of references was reached once, so that those before the intra picture are gone. */
  let isSettled = false;
  const maxReferences = Math.max(1, sequence.maxReferences);
  let previousOrder = 0;
  let decoded = 0;

  /** Returns the display order relative to the intra picture. */
  const getOrder = ({ order, isReference }: SliceHeader): number => {
    if (order === null) return decoded;
    const half = orderModulus / 2;
    const relative = previousOrder + wrap(order - first.order! - previousOrder + half, orderModulus) - half;
    if (isReference) previousOrder = relative;
    return relative;
  };

  /** Removes the oldest pictures, as the sliding window does. */
  const addReference = (references: Reference[], added: Reference): Reference[] =>
    [...references, added].slice(-maxReferences);

  function take(slices: readonly SliceHeader[], isKept: boolean): { order: number; newNumber: number } {
    const [header] = slices;
    if (header === undefined) throw new Error("A packet has no picture.");
    const order = getOrder(header);
    const newNumber = wrap(keptCount, numberModulus);
    if (header.frameNumber !== wrap(first.frameNumber + count, numberModulus))
      throw new Error("Frame numbers are not consecutive.");
    return { order, newNumber: isKept ? newNumber : -1 };
  }

  /** Returns the references that a picture removes, of those since the intra picture. */
  const findRemoved = ({ removals, frameNumber }: SliceHeader): Reference[] =>
    (removals ?? []).flatMap((difference) => {
      const number = wrap(frameNumber - difference, numberModulus);
      return source.filter((reference) => reference.number === number);
    });

  function complete(header: SliceHeader, order: number, isKept: boolean): void {
    decoded++;
    if (!header.isReference) return;
    const removed = findRemoved(header);
    source = source.filter((reference) => !removed.includes(reference));
    // The commands of a dropped picture are dropped too.
    if (isKept) kept = kept.filter((reference) => !removed.includes(reference));
    const added = { number: header.frameNumber, order, newNumber: isKept ? wrap(keptCount, numberModulus) : null };
    source = addReference(source, added);
    isSettled ||= source.length === maxReferences;
    count++;
    if (!isKept) return;
    kept = addReference(kept, added);
    keptCount++;
  }

  /** Returns `dec_ref_pic_marking`. A removed picture that is not in the copy needs no command. */
  function formatRemovals(header: SliceHeader, newNumber: number): string {
    if (!header.isReference) return "";
    const removed = findRemoved(header).filter((reference) => kept.includes(reference));
    if (removed.length === 0) return "0";
    const commands = removed.map(
      (reference) => formatExpGolomb(1) + formatExpGolomb(wrap(newNumber - reference.newNumber!, numberModulus) - 1),
    );
    return `1${commands.join("")}${formatExpGolomb(0)}`;
  }

  const parse = (units: readonly Uint8Array[]) =>
    units.filter(isSlice).map((nal) => parseSliceHeader(nal, sequence, parameterSets));

  return {
    /** Returns the NAL units of the next kept packet. Errors: a plain `Error` if it refers to other pictures. */
    rewrite(units: readonly Uint8Array[]): Uint8Array[] {
      if (hasStarted && units.some((nal) => getNalType(nal) === NAL_IDR)) isDone = true;
      if (isDone) return [...units];
      const isFirst = !hasStarted;
      hasStarted = true;
      const slices = parse(units);
      const { order, newNumber } = take(slices, true);
      const newOrder = sequence.orderBits === null ? null : wrap(order, orderModulus);
      let n = 0;
      const written = units.flatMap((nal) => {
        // A recovery point must not be announced at an IDR picture.
        if (isFirst && getNalType(nal) === NAL_SEI) return [];
        if (!isSlice(nal)) return [nal];
        const header = slices[n++]!;
        const context = { source, kept, order, newNumber, numberModulus, isSettled };
        const commands = isFirst ? "" : formatLists(header, context);
        const marking = isFirst ? "00" : formatRemovals(header, newNumber);
        return [writeSlice(header, { isIdr: isFirst, newNumber, newOrder, commands, marking, sequence })];
      });
      complete(slices[0]!, order, true);
      return written;
    },
    /** Takes a packet that is dropped. */
    drop(units: readonly Uint8Array[]): void {
      if (isDone) return;
      const slices = parse(units);
      const { order } = take(slices, false);
      complete(slices[0]!, order, false);
    },
    /** Whether the next packets stay unchanged, because an IDR picture was found. */
    isDone: () => isDone,
    /** Whether later pictures can no longer refer to one before the intra picture. */
    isSettled: () => isSettled && keptCount > maxReferences,
  };
}

type ListContext = {
  /** The references in the source since the intra picture, and those that are kept, in decode order. */
  source: readonly Reference[];
  kept: readonly Reference[];
  order: number;
  newNumber: number;
  numberModulus: number;
  /** Whether no picture before the intra picture is a reference in the source. */
  isSettled: boolean;
};

/** Returns both list modifications of a slice, so that its lists have the same pictures as in the source. */
function formatLists(header: SliceHeader, context: ListContext): string {
  const { kind, references, commands, frameNumber } = header;
  if (kind === "I") return "";
  const { source, kept, newNumber, numberModulus } = context;
  const toList = (list: 0 | 1, references: readonly Reference[]) =>
    kind === "P" ? references.toReversed() : sortForBiprediction(references, context.order, list);
  const { before, after } = divideByOrder(source, context.order);
  // Pictures before the intra picture may follow these in the source's list 0, and decide whether its lists are equal.
  const isUncertain = kind === "B" && !context.isSettled;
  if (isUncertain && after.length === 0) throw new Error("A picture may refer to one before the intra picture.");
  const lists = kind === "P" ? ([0] as const) : ([0, 1] as const);
  const wanted = lists.map((list) => {
    const initial = isUncertain && list === 0 ? before : toList(list, source);
    const found = applyCommands(initial, commands[list], { source, frameNumber, numberModulus });
    const active = found.slice(0, references[list]);
    if (active.length < references[list] || active.some((reference) => !kept.includes(reference)))
      throw new Error("A picture refers to one before the intra picture.");
    return active;
  });
  return lists
    .map((list) => {
      const initial = toList(list, kept);
      const isSame = wanted[list]!.every((reference, n) => initial[n] === reference);
      if (isSame) return "0";
      let previous = newNumber;
      const written = wanted[list]!.map((reference) => {
        const difference = wrap(reference.newNumber! - previous, numberModulus);
        previous = reference.newNumber!;
        // A difference of 0 is a whole period.
        return difference === 0 || difference > numberModulus / 2
          ? formatExpGolomb(0) + formatExpGolomb((difference === 0 ? numberModulus : numberModulus - difference) - 1)
          : formatExpGolomb(1) + formatExpGolomb(difference - 1);
      });
      return `1${written.join("")}${formatExpGolomb(3)}`;
    })
    .join("");
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

type SliceChange = {
  isIdr: boolean;
  newNumber: number;
  newOrder: number | null;
  commands: string;
  /**
   * `dec_ref_pic_marking`. An IDR picture has two flags there: earlier pictures are shown, and it is not a long-term
   * reference.
   */
  marking: string;
  sequence: SequenceFacts;
};

function writeSlice(header: SliceHeader, change: SliceChange): Uint8Array {
  const { nal, bytes, at, isCabac } = header;
  const copy = (from: number, to: number): string => {
    let text = "";
    for (let bit = from; bit < to; bit++) text += (bytes[bit >> 3]! >> (7 - (bit & 7))) & 1;
    return text;
  };
  const toBits = (value: number, count: number) => value.toString(2).padStart(count, "0");
  const { frameNumberBits, orderBits } = change.sequence;
  let bits =
    toBits(change.newNumber, frameNumberBits) +
    (change.isIdr ? formatExpGolomb(IDR_PICTURE_ID) : "") +
    (change.newOrder === null ? "" : toBits(change.newOrder, orderBits!)) +
    copy(at.afterOrder, at.commands) +
    change.commands +
    copy(at.afterCommands, at.marking) +
    change.marking +
    copy(at.afterMarking, at.end);
  let { end } = at;
  const isAligned = isCabac || (at.frameNumber + bits.length - end) % 8 === 0;
  if (isCabac) {
    // The data starts at a whole byte, after bits of value 1.
    end = Math.ceil(end / 8) * 8;
    bits += "1".repeat(wrap(-(at.frameNumber + bits.length), 8));
  }
  const split = isAligned ? findSplit(nal, Math.ceil(end / 8)) : nal.length;
  const changed = replaceBits(removeEmulationPrevention(nal.subarray(0, split)), at.frameNumber, end, bits);
  if (change.isIdr) changed[0] = (changed[0]! & 0xe0) | NAL_IDR;
  let { length } = changed;
  while (length > 0 && changed[length - 1] === 0) length--;
  const start = addEmulationPrevention(changed.slice(0, length));
  return Bun.concatArrayBuffers([start, nal.subarray(split)], Number.POSITIVE_INFINITY, true);
}

/**
 * Returns the end of the first byte that is not 0 among those that are `from` bytes or more after the start, without
 * emulation prevention. The bytes after it need the same emulation prevention after any other beginning of whole bytes.
 */
function findSplit(nal: Uint8Array, from: number): number {
  let zeros = 0;
  let count = 0;
  for (let at = 0; at < nal.length; at++) {
    const byte = nal[at]!;
    if (zeros >= 2 && byte === 3) {
      zeros = 0;
      continue;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
    if (++count > from && byte !== 0) return at + 1;
  }
  return nal.length;
}
