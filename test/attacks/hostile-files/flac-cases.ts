/** Hostile FLAC files: stream info, metadata lengths, pictures, seek tables, frames. */
import {
  type Bytes,
  byte,
  concat,
  latin,
  overwrite,
  readBE,
  repeat,
  splice,
  text,
  uintBE,
  uintLE,
  zeros,
} from "./bytes";
import { type BaseFiles, type ContainerCases, hostile, hostileFirst, type Structure, type Targets } from "./cases";

const INFO_AT = 8;
const SEEK_TABLE = 3;
const COMMENT = 4;
const CUE_SHEET = 5;
const PICTURE = 6;

/** The metadata blocks, then the frames as one. */
export function walkFlac(file: Bytes): Structure[] {
  const found: Structure[] = [{ name: "marker", start: 0, headerEnd: 4, end: 4 }];
  let at = 4;
  for (let isLast = false; !isLast && at + 4 <= file.length; ) {
    isLast = file[at]! >= 128;
    const end = at + 4 + readBE(file, at + 1, 3);
    found.push({ name: `metadata ${file[at]! & 127}`, start: at, headerEnd: at + 4, end: Math.min(end, file.length) });
    at = end;
  }
  found.push({ name: "frames", start: at, headerEnd: Math.min(at + 16, file.length), end: file.length });
  return found;
}

const block = (type: number, body: Bytes, claimed = body.length): Bytes => concat(byte(type), uintBE(claimed, 3), body);

export function flacCases({ flac }: BaseFiles, targets: Targets): ContainerCases {
  const afterInfo = INFO_AT + 34;
  const framesAt = walkFlac(flac).at(-1)!.start;
  const info = (at: number, patch: Bytes) => overwrite(flac, INFO_AT + at, patch);
  const add = (...blocks: Bytes[]) => splice(flac, afterInfo, afterInfo, ...blocks);
  const bits = (rate: number, channels: number, depth: number, samples: bigint) =>
    info(10, uintBE((BigInt(rate) << 44n) | (BigInt(channels - 1) << 41n) | (BigInt(depth - 1) << 36n) | samples, 8));
  const picture = (options: {
    width?: number;
    typeLength?: number;
    dataLength?: number;
    data?: Bytes;
    type?: Bytes;
  }) => {
    const { width = 10, data = zeros(10), type = text("image/png") } = options;
    return block(
      PICTURE,
      concat(
        ...[uintBE(3, 4), uintBE(options.typeLength ?? type.length, 4), type, uintBE(0, 4)],
        ...[width, width, 24, 0, options.dataLength ?? data.length].map((value) => uintBE(value, 4)),
        data,
      ),
    );
  };
  const png = (side: number) =>
    concat(
      latin("\x89PNG\r\n\x1a\n"),
      uintBE(13, 4),
      latin("IHDR"),
      uintBE(side, 4),
      uintBE(side, 4),
      byte(8, 6, 0, 0, 0),
      zeros(4),
    );
  const comments = (count: number, ...entries: Bytes[]) =>
    block(
      COMMENT,
      concat(
        uintLE(1, 4),
        text("x"),
        uintLE(count, 4),
        ...entries.flatMap((entry) => [uintLE(entry.length, 4), entry]),
      ),
    );
  return {
    bases: [flac],
    walk: walkFlac,
    cases: [
      hostileFirst("2^36-1 samples", () => bits(16_000, 1, 16, 2n ** 36n - 1n)),
      hostile("no count of samples", () => bits(16_000, 1, 16, 0n)),
      hostile("one sample", () => bits(16_000, 1, 16, 1n)),
      hostile("rate 0", () => bits(0, 1, 16, 16_000n)),
      hostile("rate 1", () => bits(1, 1, 16, 16_000n)),
      hostile("rate 2^20-1", () => bits(2 ** 20 - 1, 1, 16, 16_000n)),
      hostile("8 channels of 32 bits", () => bits(16_000, 8, 32, 16_000n)),
      hostile("one bit a sample", () => bits(16_000, 1, 1, 16_000n)),
      hostile("blocks of no samples", () => info(0, zeros(4))),
      hostile("blocks of 65,535 samples", () => info(0, byte(255, 255, 255, 255))),
      hostile("smallest block above the largest", () => info(0, byte(255, 255, 0, 16))),
      hostile("frames of 2^24-1 bytes", () => info(4, byte(255, 255, 255, 255, 255, 255))),
      hostile("stream info of 0 bytes", () => overwrite(flac, 5, zeros(3))),
      hostile("stream info of 2^24-1 bytes", () => overwrite(flac, 5, byte(255, 255, 255))),
      hostile("two stream infos", () => add(block(0, flac.slice(INFO_AT, afterInfo)))),
      hostile("metadata that never ends", () =>
        overwrite(flac, walkFlac(flac).at(-2)!.start, byte(flac[walkFlac(flac).at(-2)!.start]! & 127)),
      ),
      hostile("metadata of a kind that there is none of", () => add(block(126, zeros(1_000)))),
      hostile("metadata of 16 MB that is not there", () => add(block(1, zeros(10), 2 ** 24 - 1))),
      hostile("50,000 empty metadata blocks", () => add(repeat(50_000, () => block(1, zeros(0))))),
      hostileFirst("picture of 2^32-1 pixels a side", () =>
        add(picture({ width: 2 ** 32 - 1, data: png(2 ** 31 - 1) })),
      ),
      hostile("picture of 65,535 pixels a side", () => add(picture({ data: png(65_535) }))),
      hostile("picture that claims 2^32-1 bytes", () => add(picture({ dataLength: 2 ** 32 - 1 }))),
      hostile("picture whose kind claims 2^32-1 bytes", () => add(picture({ typeLength: 2 ** 32 - 1 }))),
      ...targets
        .slice(0, 2)
        .map((path, n) =>
          hostile(`picture that is an address of a file, ${n + 1}`, () =>
            add(picture({ type: text("-->"), data: text(`file://${path}`) })),
          ),
        ),
      hostile("picture that is a drawing which names a file", () =>
        add(
          picture({
            type: text("image/svg+xml"),
            data: text(`<svg xmlns:x="http://www.w3.org/1999/xlink"><image x:href="file://${targets[0]}"/></svg>`),
          }),
        ),
      ),
      hostile("1,000 pictures", () => add(repeat(1_000, () => picture({ data: png(1) })))),
      hostile("seek table of 900,000 points", () => add(block(SEEK_TABLE, new Uint8Array(18 * 900_000).fill(7)))),
      hostile("seek table that leads beyond the end", () =>
        add(block(SEEK_TABLE, concat(zeros(8), uintBE(2n ** 63n, 8), zeros(2)))),
      ),
      hostile("seek table of half a point", () => add(block(SEEK_TABLE, zeros(9)))),
      hostile("2^32-1 comments", () => add(comments(2 ** 32 - 1))),
      hostile("comment of control characters", () =>
        add(comments(1, concat(text("TITLE="), byte(...Array.from({ length: 256 }, (_, n) => n))))),
      ),
      hostile("cue sheet of 255 tracks that are not there", () => add(block(CUE_SHEET, concat(zeros(395), byte(255))))),
      hostile("chapters of years", () =>
        add(comments(2, text("CHAPTER000=99999:59:59.999"), text("CHAPTER000NAME=\u0000x"))),
      ),
      hostile("frames of random bits", (random) => concat(flac.subarray(0, framesAt + 16), random.bytes(50_000))),
      hostile("frame headers only", () =>
        concat(
          flac.subarray(0, framesAt),
          repeat(5_000, () => flac.subarray(framesAt, framesAt + 6)),
        ),
      ),
      hostile("ID3 before the stream", () => concat(latin("ID3"), byte(4, 0, 0, 0x7f, 0x7f, 0x7f, 0x7f), flac)),
    ],
  };
}
