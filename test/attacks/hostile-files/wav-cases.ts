/** Hostile WAV files: chunk sizes, channels, rates, block sizes, RF64, metadata. */
import { type Bytes, byte, concat, latin, overwrite, repeat, splice, text, uintLE, zeros } from "./bytes";
import { type BaseFiles, type ContainerCases, hostile, hostileFirst, type Targets } from "./cases";
import { chunk, chunkAt, insertBefore, list, walkRiff, writeChunk, writeSize } from "./riff-chunks";

const FORMAT = "WAVE/fmt ";
const DATA = "WAVE/data";
const MAX_32 = 2 ** 32 - 1;

export function wavCases({ wav }: BaseFiles, targets: Targets): ContainerCases {
  const u16 = (value: number) => uintLE(value, 2);
  const u32 = (value: number) => uintLE(value, 4);
  const format = (options: { tag?: number; channels?: number; rate?: number; align?: number; bits?: number }) => {
    const { tag = 1, channels = 1, rate = 16_000, align = 2, bits = 16 } = options;
    return writeChunk(
      wav,
      FORMAT,
      0,
      concat(u16(tag), u16(channels), u32(rate), u32(rate * align), u16(align), u16(bits)),
    );
  };
  const sizes = (riff: bigint, data: bigint, samples: bigint, table: number) =>
    chunk("ds64", concat(uintLE(riff, 8), uintLE(data, 8), uintLE(samples, 8), u32(table)));
  const rf64 = (riff: bigint, data: bigint, samples: bigint, table = 0) =>
    overwrite(writeSize(insertBefore(wav, FORMAT, sizes(riff, data, samples, table)), DATA, MAX_32), 0, latin("RF64"));
  const before = (...chunks: Bytes[]) => insertBefore(wav, FORMAT, ...chunks);
  const walkRf64 = (file: Bytes) => walkRiff(overwrite(file, 0, latin("RIFF")));
  const sized = (size: number) => (path: string) => writeSize(wav, path, size);
  return {
    bases: [wav],
    walk: walkRf64,
    cases: [
      hostileFirst("no channels", () => format({ channels: 0 })),
      hostileFirst("65,535 channels", () => format({ channels: 65_535, align: 65_535 })),
      hostile("65,535 channels of the true block size", () => format({ channels: 65_535 })),
      hostile("rate 0", () => format({ rate: 0 })),
      hostile("rate 1", () => format({ rate: 1 })),
      hostile("rate 2^31-1", () => format({ rate: 2 ** 31 - 1 })),
      hostile("rate 2^32-1", () => format({ rate: MAX_32 })),
      hostile("block size 0", () => format({ align: 0 })),
      hostile("block size 65,535", () => format({ align: 65_535 })),
      hostile("samples of 0 bits", () => format({ bits: 0 })),
      hostile("samples of 65,535 bits", () => format({ bits: 65_535 })),
      hostile("samples of 64 bits", () => format({ bits: 64, align: 8 })),
      hostile("32 channels of floats at 768 kHz", () =>
        format({ tag: 3, channels: 32, rate: 768_000, align: 128, bits: 32 }),
      ),
      ...[0x2, 0x11, 0x50, 0x55, 0x161, 0x1610, 0x2000, 0xfffe, 0xffff].map((tag) =>
        hostile(`codec ${tag.toString(16)} without its record`, () => format({ tag })),
      ),
      hostile("format of 4 bytes", () => sized(4)(FORMAT)),
      hostile("format of 2^31 bytes", () => sized(2 ** 31)(FORMAT)),
      hostile("data of 0 bytes", () => sized(0)(DATA)),
      hostile("data of 2^32-1 bytes", () => sized(MAX_32)(DATA)),
      hostile("data of 2^31-1 bytes", () => sized(2 ** 31 - 1)(DATA)),
      hostile("data before the format", () => splice(wav, 12, 12, chunk("data", zeros(1_000)))),
      hostile("two formats", () => before(chunk("fmt ", concat(u16(3), u16(9), u32(1), u32(1), u16(36), u16(32))))),
      hostile("no data", () => wav.slice(0, chunkAt(wav, DATA).start)),
      hostileFirst("RF64 of 2^63-1 bytes", () => rf64(2n ** 63n - 1n, 2n ** 63n - 1n, 2n ** 63n - 1n)),
      hostile("RF64 of 2^64-1 bytes", () => rf64(2n ** 64n - 1n, 2n ** 64n - 1n, 2n ** 64n - 1n)),
      hostile("RF64 with a table of 2^32-1 chunks", () => rf64(1_000n, 1_000n, 500n, MAX_32)),
      hostile("RF64 without its sizes", () => overwrite(wav, 0, latin("RF64"))),
      hostile("100,000 empty chunks", () => before(repeat(100_000, () => chunk("junk", zeros(0))))),
      hostile("title of 2^32-1 bytes", () =>
        before(chunk("LIST", concat(latin("INFO"), chunk("INAM", text("a"), MAX_32)))),
      ),
      hostile("title of control characters", () =>
        before(list("INFO", chunk("INAM", byte(...Array.from({ length: 256 }, (_, n) => n))))),
      ),
      hostile("titles that name files", () =>
        before(list("INFO", ...targets.map((path) => chunk("INAM", text(`concat:${path}|${path}`))))),
      ),
      hostile("lists nested 1,000 deep", () =>
        before(Array.from({ length: 1_000 }).reduce<Bytes>((inner) => list("INFO", inner), zeros(0))),
      ),
      hostile("ID3 of 256 MB", () =>
        before(chunk("id3 ", concat(latin("ID3"), byte(3, 0, 0, 0x7f, 0x7f, 0x7f, 0x7f)))),
      ),
      hostile("extensible format that names no codec", () =>
        before(
          chunk(
            "fmt ",
            concat(
              u16(0xfffe),
              u16(2),
              u32(16_000),
              u32(64_000),
              u16(4),
              u16(16),
              u16(22),
              u16(16),
              u32(MAX_32),
              zeros(16),
            ),
          ),
        ),
      ),
      hostile("speech tag of random bits", (random) =>
        before(chunk("bext", random.bytes(700)), chunk("cue ", concat(u32(MAX_32), random.bytes(50)))),
      ),
    ],
  };
}
