/** Reads bzip2: the publishers' archives come packed with it, and the machine need not have the program. */

/** Gives the next bytes of the packed file, or null at its end. */
export type ByteSource = () => Uint8Array | null;

const BLOCK_MAGIC = [0x314159, 0x265359] as const;
const END_MAGIC = [0x177245, 0x385090] as const;
const LONGEST_CODE = 20;
const GROUP = 50;
/** Bytes that are given at a time. */
const PIECE_BYTES = 1 << 18;

/** The unpacked bytes, piece by piece; a piece is only good until the next. Throws on what is no bzip2, is damaged or ends too early. */
export function* bunzip2(source: ByteSource): Generator<Uint8Array> {
  const bits = bitReader(source);
  const out = new Uint8Array(PIECE_BYTES);
  do {
    if (bits.read(24) !== 0x425a68) throw new Error("it is no bzip2");
    const level = bits.read(8) - 0x30;
    if (level < 1 || level > 9) throw new Error("it is no bzip2");
    const block = new Uint32Array(level * 100_000);
    let combined = 0;
    for (;;) {
      const magic = [bits.read(24), bits.read(24)];
      const sum = readSum(bits);
      if (magic[0] === END_MAGIC[0] && magic[1] === END_MAGIC[1]) {
        if (sum !== combined) throw damaged();
        break;
      }
      if (magic[0] !== BLOCK_MAGIC[0] || magic[1] !== BLOCK_MAGIC[1]) throw damaged();
      const { length, first } = readBlock(bits, block);
      const found = yield* unrun(block, length, first, out);
      if (found !== sum) throw damaged();
      combined = (((combined << 1) | (combined >>> 31)) ^ sum) >>> 0;
    }
    bits.align();
  } while (!bits.atEnd());
}

const damaged = (): Error => new Error("it is damaged");

type Bits = {
  read(count: number): number;
  peek(count: number): number;
  skip(count: number): void;
  align(): void;
  atEnd(): boolean;
};

/** Reads up to 24 bits at a time, the highest first. */
function bitReader(source: ByteSource): Bits {
  let chunk: Uint8Array = new Uint8Array(0);
  let at = 0;
  let held = 0;
  let count = 0;
  const more = (): boolean => {
    while (at >= chunk.length) {
      const next = source();
      if (next === null) return false;
      chunk = next;
      at = 0;
    }
    return true;
  };
  const fill = (wanted: number) => {
    while (count < wanted && (at < chunk.length || more())) {
      held = ((held << 8) | chunk[at++]!) >>> 0;
      count += 8;
    }
  };
  const skip = (wanted: number) => {
    if (count < wanted) throw new Error("it is cut off");
    count -= wanted;
  };
  /** Past the end of the file there are zeros; taking them fails. */
  const peek = (wanted: number): number => {
    fill(wanted);
    const value = count >= wanted ? held >>> (count - wanted) : held << (wanted - count);
    return value & ((1 << wanted) - 1);
  };
  return {
    peek,
    skip,
    read(wanted) {
      const value = peek(wanted);
      skip(wanted);
      return value;
    },
    align: () => skip(count % 8),
    atEnd: () => count === 0 && !more(),
  };
}

const readSum = (bits: Bits): number => ((bits.read(16) << 16) | bits.read(16)) >>> 0;

/** Reads a block into `block`, as the chain of its bytes: each value holds a byte, and above it the place of the next one. */
function readBlock(bits: Bits, block: Uint32Array): { length: number; first: number } {
  // Randomised blocks went out of use in 1996.
  if (bits.read(1) === 1) throw damaged();
  const origin = bits.read(24);
  const used = readUsedBytes(bits);
  const tableCount = bits.read(3);
  const selectorCount = bits.read(15);
  if (used.length === 0 || tableCount < 2 || tableCount > 6 || selectorCount === 0) throw damaged();
  const selectors = readSelectors(bits, selectorCount, tableCount);
  const tables = Array.from({ length: tableCount }, () => readTable(bits, used.length + 2));
  const counts = new Uint32Array(256);
  const length = readBytes(bits, selectors, tables, used, block, counts);
  if (origin >= length) throw damaged();
  let total = 0;
  const places = Uint32Array.from(counts, (count) => {
    total += count;
    return total - count;
  });
  for (let i = 0; i < length; i++) block[places[block[i]! & 0xff]!++]! |= i << 8;
  return { length, first: block[origin]! >>> 8 };
}

function readUsedBytes(bits: Bits): number[] {
  const ranges = bits.read(16);
  const used: number[] = [];
  for (let range = 0; range < 16; range++) {
    if ((ranges & (0x8000 >>> range)) === 0) continue;
    const map = bits.read(16);
    for (let i = 0; i < 16; i++) if ((map & (0x8000 >>> i)) !== 0) used.push(range * 16 + i);
  }
  return used;
}

/** Which table each group of symbols is coded with: moved to front, counted in ones. */
function readSelectors(bits: Bits, count: number, tableCount: number): Uint8Array {
  const order = Array.from({ length: tableCount }, (_, i) => i);
  return Uint8Array.from({ length: count }, () => {
    let place = 0;
    while (bits.read(1) === 1) if (++place >= tableCount) throw damaged();
    const [table] = order.splice(place, 1);
    order.unshift(table!);
    return table!;
  });
}

/** A prefix code: for the next `LOOKUP` bits the symbol and its length where it is that short, else by comparing with each length's limit. */
type Table = { quick: Uint16Array; limits: Int32Array; offsets: Int32Array; symbols: Uint16Array };
const LOOKUP = 10;

function readTable(bits: Bits, symbolCount: number): Table {
  const lengths = new Uint8Array(symbolCount);
  let length = bits.read(5);
  for (let symbol = 0; symbol < symbolCount; symbol++) {
    while (bits.read(1) === 1) length += bits.read(1) === 1 ? -1 : 1;
    if (length < 1 || length > LONGEST_CODE) throw damaged();
    lengths[symbol] = length;
  }
  const limits = new Int32Array(LONGEST_CODE + 1).fill(-1);
  const offsets = new Int32Array(LONGEST_CODE + 1);
  const symbols = new Uint16Array(symbolCount);
  const quick = new Uint16Array(1 << LOOKUP);
  let code = 0;
  let placed = 0;
  for (let size = 1; size <= LONGEST_CODE; size++) {
    const before = placed;
    offsets[size] = placed - code;
    for (let symbol = 0; symbol < symbolCount; symbol++) {
      if (lengths[symbol] !== size) continue;
      if (code >= 1 << size) throw damaged();
      symbols[placed++] = symbol;
      if (size <= LOOKUP) quick.fill((symbol << 4) | size, code << (LOOKUP - size), (code + 1) << (LOOKUP - size));
      code++;
    }
    if (placed > before) limits[size] = code - 1;
    code <<= 1;
  }
  return { quick, limits, offsets, symbols };
}

function readSymbol(bits: Bits, { quick, limits, offsets, symbols }: Table): number {
  const entry = quick[bits.peek(LOOKUP)]!;
  if (entry !== 0) {
    bits.skip(entry & 15);
    return entry >>> 4;
  }
  for (let size = LOOKUP + 1; size <= LONGEST_CODE; size++) {
    const code = bits.peek(size);
    if (code > limits[size]!) continue;
    bits.skip(size);
    return symbols[code + offsets[size]!]!;
  }
  throw damaged();
}

/** The symbols: runs of the front byte in a base-two count, bytes by their place in the list of the latest, and the end. */
function readBytes(
  bits: Bits,
  selectors: Uint8Array,
  tables: Table[],
  used: number[],
  block: Uint32Array,
  counts: Uint32Array,
): number {
  const latest = Uint8Array.from(used);
  const end = used.length + 1;
  let length = 0;
  let run = 0;
  let unit = 1;
  for (let group = 0; group < selectors.length; group++) {
    const table = tables[selectors[group]!]!;
    for (let i = 0; i < GROUP; i++) {
      const symbol = readSymbol(bits, table);
      if (symbol <= 1) {
        run += unit << symbol;
        unit *= 2;
        if (run > block.length) throw damaged();
        continue;
      }
      if (run > 0) {
        if (length + run > block.length) throw damaged();
        block.fill(latest[0]!, length, length + run);
        counts[latest[0]!]! += run;
        length += run;
        run = 0;
        unit = 1;
      }
      if (symbol === end) return length;
      const byte = latest[symbol - 1]!;
      latest.copyWithin(1, 0, symbol - 1);
      latest[0] = byte;
      if (length >= block.length) throw damaged();
      block[length++] = byte;
      counts[byte]!++;
    }
  }
  throw damaged();
}

/** Follows the chain and undoes the first packing: after four equal bytes comes how many more there are. Gives the checksum. */
function* unrun(block: Uint32Array, length: number, first: number, out: Uint8Array): Generator<Uint8Array, number> {
  let sum = 0xffffffff;
  let filled = 0;
  let place = first;
  let previous = -1;
  let equal = 0;
  for (let i = 0; i < length; i++) {
    const entry = block[place]!;
    const byte = entry & 0xff;
    place = entry >>> 8;
    let times = 1;
    let value = byte;
    if (equal === 4) {
      times = byte;
      value = previous;
      equal = 0;
      previous = -1;
    } else {
      equal = byte === previous ? equal + 1 : 1;
      previous = byte;
    }
    for (let k = 0; k < times; k++) {
      out[filled++] = value;
      sum = (sum << 8) ^ SUMS[(sum >>> 24) ^ value]!;
      if (filled < out.length) continue;
      yield out;
      filled = 0;
    }
  }
  if (filled > 0) yield out.subarray(0, filled);
  return ~sum >>> 0;
}

/** CRC-32 with the highest bit first. */
const SUMS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24;
  for (let bit = 0; bit < 8; bit++) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  return sum >>> 0;
});
