/**
 * Arithmetic coding with adaptive probabilities, for small records of numbers. One description of a format serves both
 * directions: `ValueWriter` writes the values that it is given and returns them, `ValueReader` ignores them and returns
 * those that it reads.
 */

/** The probabilities that bits are 1, as shares of `SCALE`, and how many bits each has seen. */
type Models = { ones: number[]; seen: number[] };

const SCALE = 65_536;
/** Bounds of a probability: no bit is certain. */
const MARGIN = 64;
/** A probability follows the newest bits, and the first ones faster. */
const MAX_SEEN = 40;
/** Modeled bits after the first one of a number. The others are nearly random. */
const MODELED_BITS = 2;
/** A number has fewer bits than 2 to the power of this. */
const SIZE_BITS = 6;
/** Models of a number: its sign, its size, and the modeled bits of each size. */
const SIZES = 1;
const FIRST_BITS = SIZES + 2 ** SIZE_BITS;
const MODELS_PER_NUMBER = FIRST_BITS + 2 ** (SIZE_BITS + MODELED_BITS);

/** `value`: the value to write. A reader ignores it. Numbers of one `name` share their probabilities. */
export abstract class ValueCoder {
  readonly #models = new Map<string, Models>();

  protected abstract code(bit: boolean, one: number): boolean;

  #find(name: string): Models {
    const known = this.#models.get(name);
    if (known) return known;
    const models = { ones: [], seen: [] };
    this.#models.set(name, models);
    return models;
  }

  #flag({ ones, seen }: Models, index: number, value: boolean): boolean {
    const one = ones[index] ?? SCALE / 2;
    const count = seen[index] ?? 0;
    const bit = this.code(value, Math.min(SCALE - MARGIN, Math.max(MARGIN, Math.round(one))));
    ones[index] = one + ((bit ? SCALE : 0) - one) / (count + 1.6);
    seen[index] = Math.min(MAX_SEEN, count + 1);
    return bit;
  }

  #symbol(models: Models, first: number, bits: number, value: number): number {
    let prefix = 1;
    for (let i = bits - 1; i >= 0; i--)
      prefix = 2 * prefix + Number(this.#flag(models, first + prefix, Math.floor(value / 2 ** i) % 2 === 1));
    return prefix - 2 ** bits;
  }

  /** Codes an integer of at least 0 as its number of bits and its bits. */
  #unsigned(models: Models, first: number, value: number): number {
    const size = this.#symbol(models, first + SIZES, SIZE_BITS, countBits(value));
    let prefix = 1;
    for (let i = size - 2; i >= 0; i--) {
      const bit = Math.floor(value / 2 ** i) % 2 === 1;
      const isModeled = size - 2 - i < MODELED_BITS;
      const model = first + FIRST_BITS + (size << MODELED_BITS) + prefix;
      prefix = 2 * prefix + Number(isModeled ? this.#flag(models, model, bit) : this.code(bit, SCALE / 2));
    }
    return size === 0 ? 0 : prefix;
  }

  #signed(models: Models, first: number, value: number): number {
    const size = this.#unsigned(models, first, Math.abs(value));
    return size !== 0 && this.#flag(models, first, value < 0) ? -size : size;
  }

  flag(name: string, value: boolean): boolean {
    return this.#flag(this.#find(name), 0, value);
  }

  /** Codes one of 2 to the power of `bits` values. */
  symbol(name: string, bits: number, value: number): number {
    return this.#symbol(this.#find(name), 0, bits, value);
  }

  /** Codes a safe integer of at least 0. */
  unsigned(name: string, value: number): number {
    return this.#unsigned(this.#find(name), 0, value);
  }

  signed(name: string, value: number): number {
    return this.#signed(this.#find(name), 0, value);
  }

  count(name: string, value: number): number {
    return this.unsigned(name, value);
  }

  /** Notes a text. A reader limits them. */
  noteText(_length: number): void {}

  /** Codes any number. Multiples of the first steps are the shortest. A step is an integer or the inverse of one. */
  number(name: string, steps: readonly number[], value: number): number {
    const models = this.#find(name);
    for (const [i, step] of steps.entries()) {
      const perUnit = step < 1 ? Math.round(1 / step) : 1;
      const restore = (count: number) => (step < 1 ? count / perUnit : count * step);
      const inSteps = Math.round(step < 1 ? value * perUnit : value / step);
      const isExact = Number.isSafeInteger(inSteps) && restore(inSteps) === value;
      const first = i * (MODELS_PER_NUMBER + 1);
      if (this.#flag(models, first, isExact)) return restore(this.#signed(models, first + 1, inSteps));
    }
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value);
    for (let i = 0; i < 8; i++) view.setUint8(i, this.symbol(`${name}/raw`, 8, view.getUint8(i)));
    return view.getFloat64(0);
  }

  text(name: string, value: string): string {
    const bytes = new TextEncoder().encode(value);
    const length = this.unsigned(`${name}.length`, bytes.length);
    this.noteText(length);
    const out = new Uint8Array(length);
    for (let i = 0; i < length; i++) out[i] = this.symbol(name, 8, bytes[i] ?? 0);
    return new TextDecoder().decode(out);
  }
}

const WORD = 2 ** 32;

/** Returns the number of binary digits of an integer, 0 for 0. */
const countBits = (value: number): number =>
  value < WORD ? 32 - Math.clz32(value) : 64 - Math.clz32(Math.floor(value / WORD));

/** The interval of a coder is divided at the first value that belongs to a bit of 0. */
const divide = (low: number, high: number, one: number): number => low + Math.floor(((high - low) * one) / SCALE);

const TOP = 2 ** 24;
const MAX_WORD = WORD - 1;

export class ValueWriter extends ValueCoder {
  readonly #bytes: number[] = [];
  #low = 0;
  #high = MAX_WORD;

  protected code(bit: boolean, one: number): boolean {
    const middle = divide(this.#low, this.#high, one);
    if (bit) this.#high = middle;
    else this.#low = middle + 1;
    while (Math.floor(this.#low / TOP) === Math.floor(this.#high / TOP)) {
      this.#bytes.push(Math.floor(this.#high / TOP));
      this.#low = (this.#low % TOP) * 256;
      this.#high = (this.#high % TOP) * 256 + 255;
    }
    return bit;
  }

  /** Returns the bytes of all values so far. Bytes of 0 at the end are left out. */
  finish(): Uint8Array {
    const last = this.#low === 0 ? [] : [Math.floor(this.#low / TOP) + 1];
    const bytes = [...this.#bytes, ...last];
    while (bytes.at(-1) === 0) bytes.pop();
    return Uint8Array.from(bytes);
  }
}

/** Bytes that a reader takes as 0 after the end. */
const MAX_MISSING_BYTES = 8;

/** A few bytes may stand for many items and long texts. A day of the densest recording has four fifths of this. */
const MAX_ITEMS = 250_000;
const MAX_TEXT_BYTES = 2 * 1024 * 1024;

/**
 * Throws `RangeError` after the end, when all lists or all texts together are too long, and for a number that is not
 * finite.
 */
export class ValueReader extends ValueCoder {
  readonly #bytes: Uint8Array;
  #itemsLeft = MAX_ITEMS;
  #textLeft = MAX_TEXT_BYTES;
  #position = 0;
  #low = 0;
  #high = MAX_WORD;
  #word = 0;

  constructor(bytes: Uint8Array) {
    super();
    this.#bytes = bytes;
    for (let i = 0; i < 4; i++) this.#word = this.#word * 256 + this.#next();
  }

  override count(name: string, value: number): number {
    const count = super.count(name, value);
    this.#itemsLeft -= count;
    if (this.#itemsLeft < 0) throw new RangeError("Coded lists are too long.");
    return count;
  }

  override noteText(length: number): void {
    this.#textLeft -= length;
    if (this.#textLeft < 0) throw new RangeError("Coded texts are too long.");
  }

  override number(name: string, steps: readonly number[], value: number): number {
    const number = super.number(name, steps, value);
    if (!Number.isFinite(number)) throw new RangeError("A coded number is not finite.");
    return number;
  }

  #next(): number {
    if (this.#position >= this.#bytes.length + MAX_MISSING_BYTES) throw new RangeError("Coded values end early.");
    return this.#bytes[this.#position++] ?? 0;
  }

  protected code(_: boolean, one: number): boolean {
    const middle = divide(this.#low, this.#high, one);
    const bit = this.#word <= middle;
    if (bit) this.#high = middle;
    else this.#low = middle + 1;
    while (Math.floor(this.#low / TOP) === Math.floor(this.#high / TOP)) {
      this.#low = (this.#low % TOP) * 256;
      this.#high = (this.#high % TOP) * 256 + 255;
      this.#word = (this.#word % TOP) * 256 + this.#next();
    }
    return bit;
  }
}
