/** Hostile Ogg files: segment tables, granule positions, serial numbers, checksums, false headers. */
import { type Bytes, byte, concat, find, latin, overwrite, readLE, repeat, splice, text, uintLE, zeros } from "./bytes";
import { type BaseFiles, type ContainerCases, hostile, hostileFirst, type Structure, type Targets } from "./cases";

const HEADER_BYTES = 27;

export function walkOgg(file: Bytes): Structure[] {
  const pages: Structure[] = [];
  for (let at = 0; at + HEADER_BYTES <= file.length; ) {
    const segments = file[at + 26]!;
    const headerEnd = at + HEADER_BYTES + segments;
    const body = file.subarray(at + HEADER_BYTES, headerEnd).reduce((sum, length) => sum + length, 0);
    pages.push({ name: `page ${pages.length}`, start: at, headerEnd, end: Math.min(file.length, headerEnd + body) });
    at = headerEnd + body;
  }
  return pages;
}

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n << 24;
  for (let bit = 0; bit < 8; bit++) value = value & 0x80000000 ? (value << 1) ^ 0x04c11db7 : value << 1;
  return value >>> 0;
});

/** A page with the right checksum. */
function checked(page: Bytes): Bytes {
  const blank = overwrite(page, 22, zeros(4));
  const crc = blank.reduce((sum, next) => ((sum << 8) ^ TABLE[((sum >>> 24) ^ next) & 255]!) >>> 0, 0);
  return overwrite(blank, 22, uintLE(crc, 4));
}

/** The file with each page changed and its checksum made right again. */
const pages = (file: Bytes, change: (page: Bytes, number: number) => Bytes): Bytes =>
  concat(...walkOgg(file).map(({ start, end }, number) => checked(change(file.slice(start, end), number))));

const page = (serial: number, sequence: number, flags: number, segments: Bytes, body: Bytes, granule = 0n) =>
  checked(
    concat(
      ...[latin("OggS"), byte(0, flags), uintLE(granule, 8), uintLE(serial, 4), uintLE(sequence, 4), zeros(4)],
      ...[byte(segments.length), segments, body],
    ),
  );

export function oggCases({ ogg }: BaseFiles, targets: Targets): ContainerCases {
  const only = (number: number, change: (page: Bytes) => Bytes) =>
    pages(ogg, (found, n) => (n === number ? change(found) : found));
  const granule = (value: bigint) => pages(ogg, (found, n) => (n < 2 ? found : overwrite(found, 6, uintLE(value, 8))));
  const comment = (change: (at: number, file: Bytes) => Bytes) =>
    pages(change(find(ogg, "\x03vorbis") + 7, ogg), (p) => p);
  const last = walkOgg(ogg).length - 1;
  return {
    bases: [ogg],
    walk: walkOgg,
    cases: [
      hostileFirst("granule position of 2^63-1", () => granule(2n ** 63n - 1n)),
      hostileFirst("last granule position of 2^62", () => only(last, (p) => overwrite(p, 6, uintLE(2n ** 62n, 8)))),
      hostile("last granule position of a day", () => only(last, (p) => overwrite(p, 6, uintLE(16_000n * 86_399n, 8)))),
      hostile("granule positions below zero", () => granule(-5_000n)),
      hostile("granule positions that go back", () =>
        pages(ogg, (p, n) => overwrite(p, 6, uintLE(1_000_000 - n * 1_000, 8))),
      ),
      hostile("segment table of 255 without data", () => only(1, (p) => overwrite(p, 26, byte(255)))),
      hostile("segment table of 0", () => only(0, (p) => overwrite(p, 26, byte(0)))),
      hostile("packets that never end", () =>
        concat(
          ogg,
          repeat(200, (n) => page(readLE(ogg, 14, 4), 10 + n, 1, new Uint8Array(255).fill(255), zeros(255 * 255))),
        ),
      ),
      hostile("each page with its own serial number", () => pages(ogg, (p, n) => overwrite(p, 14, uintLE(n + 1, 4)))),
      hostile("2,000 streams that begin", () =>
        concat(
          repeat(2_000, (n) => pages(ogg.slice(0, walkOgg(ogg)[0]!.end), (p) => overwrite(p, 14, uintLE(n + 7, 4)))),
          ogg,
        ),
      ),
      hostile("100 chained streams", () =>
        concat(repeat(100, (n) => pages(ogg, (p) => overwrite(p, 14, uintLE(n, 4))))),
      ),
      hostile("wrong checksums", () =>
        concat(...walkOgg(ogg).map((p) => overwrite(ogg.slice(p.start, p.end), 22, zeros(4)))),
      ),
      hostile("100,000 empty pages", () =>
        concat(
          ogg,
          repeat(100_000, () => checkedEmpty(readLE(ogg, 14, 4))),
        ),
      ),
      hostile("no page that ends the stream", () => pages(ogg, (p) => overwrite(p, 5, byte((p[5] ?? 0) & ~4)))),
      hostile("header without channels", () => only(0, (p) => overwrite(p, p.length - 19, byte(0)))),
      hostile("header of 255 channels", () => only(0, (p) => overwrite(p, p.length - 19, byte(255)))),
      hostile("header of a rate of 0", () => only(0, (p) => overwrite(p, p.length - 18, zeros(4)))),
      hostile("header of a rate of 2^32-1", () =>
        only(0, (p) => overwrite(p, p.length - 18, byte(255, 255, 255, 255))),
      ),
      hostile("header of a rate of 1", () => only(0, (p) => overwrite(p, p.length - 18, uintLE(1, 4)))),
      hostile("comment that claims 2^32-1 bytes", () =>
        comment((at, file) => overwrite(file, at, byte(255, 255, 255, 255))),
      ),
      hostile("2^32-1 comments", () =>
        comment((at, file) => overwrite(file, at + 4 + readLE(file, at, 4), byte(255, 255, 255, 255))),
      ),
      hostile("codebooks of random bits", (random) => only(1, (p) => overwrite(p, 600, random.bytes(2_000)))),
      hostile("FLAC in Ogg that claims 2^36-1 samples", () =>
        concat(
          page(
            9,
            0,
            2,
            byte(51),
            concat(
              byte(0x7f),
              latin("FLAC"),
              byte(1, 0, 0, 1),
              latin("fLaC"),
              byte(0, 0, 0, 34),
              byte(16, 0, 16, 0),
              zeros(6),
              byte(0x0a, 0xc4, 0x42, 0xff, 255, 255, 255, 255),
              zeros(16),
            ),
          ),
          page(9, 1, 0, byte(4), byte(0x84, 0, 0, 0)),
        ),
      ),
      hostile("Opus header of 255 streams", () =>
        concat(
          page(
            9,
            0,
            2,
            byte(19),
            concat(latin("OpusHead"), byte(1, 255, 0x38, 1), uintLE(48_000, 4), zeros(2), byte(1)),
          ),
        ),
      ),
      hostile("Theora header of 2^20 pixels a side", () =>
        concat(
          page(
            9,
            0,
            2,
            byte(42),
            concat(byte(0x80), latin("theora"), byte(3, 2, 1, 255, 255, 255, 255), new Uint8Array(28).fill(255)),
          ),
        ),
      ),
      hostile("Skeleton that names a file", () =>
        concat(page(3, 0, 2, byte(80), concat(latin("fishead\0"), text(targets[0]!.padEnd(72).slice(0, 72)))), ogg),
      ),
      hostile("page inside a page", () => splice(ogg, ogg.length >> 1, ogg.length >> 1, ogg)),
    ],
  };
}

const EMPTY = new Map<number, Bytes>();

/** A page of nothing, made once for each stream. */
function checkedEmpty(serial: number): Bytes {
  const known = EMPTY.get(serial) ?? page(serial, 5, 0, zeros(0), zeros(0));
  EMPTY.set(serial, known);
  return known;
}
