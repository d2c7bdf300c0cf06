/** Hostile AVI files: list sizes, index counts, stream headers, frames that are not there. */
import { type Bytes, byte, concat, latin, repeat, text, uintLE, zeros } from "./bytes";
import { type BaseFiles, type ContainerCases, hostile, hostileFirst, type Targets } from "./cases";
import { chunk, chunkAt, insertBefore, list, walkRiff, writeChunk, writeSize } from "./riff-chunks";

const MAIN = "AVI /hdrl/avih";
const STREAM = "AVI /hdrl/strl";
const HEADER = `${STREAM}/strh`;
const FORMAT = `${STREAM}/strf`;
const MOVIE = "AVI /movi";
const INDEX = "AVI /idx1";
const MAX_32 = 2 ** 32 - 1;

export function aviCases({ avi }: BaseFiles, targets: Targets): ContainerCases {
  const u32 = (value: number) => uintLE(value, 4);
  const header = (at: number, ...values: number[]) => writeChunk(avi, HEADER, at, concat(...values.map(u32)));
  const track = chunkAt(avi, STREAM);
  const strl = avi.slice(track.start, track.end);
  const entry = (type: string, offset: number, size: number) => concat(latin(type), u32(16), u32(offset), u32(size));
  const firstFrame = entry("00dc", 4, 100);
  const index = (...entries: Bytes[]) =>
    concat(avi.slice(0, chunkAt(avi, INDEX).start), chunk("idx1", concat(...entries)));
  const superIndex = (count: number, entries: Bytes, type = 0) =>
    insertBefore(
      avi,
      FORMAT,
      chunk("indx", concat(uintLE(4, 2), byte(0, type), u32(count), latin("00dc"), zeros(12), entries)),
    );
  return {
    bases: [avi],
    walk: walkRiff,
    cases: [
      hostileFirst("scale 0 and rate 0", () => header(20, 0, 0)),
      hostile("scale 0", () => header(20, 0)),
      hostile("rate 0", () => header(24, 0)),
      hostile("one frame in 136 years", () => header(20, MAX_32, 1)),
      hostile("2^32-1 frames a second", () => header(20, 1, MAX_32)),
      hostile("start in years", () => header(28, MAX_32)),
      hostile("length of 2^32-1 frames", () => header(32, MAX_32)),
      hostile("samples of 2^32-1 bytes", () => header(44, MAX_32)),
      hostile("sample size 0 of audio", () => writeChunk(avi, HEADER, 0, concat(latin("auds"), zeros(4)))),
      hostile("header says no streams", () => writeChunk(avi, MAIN, 24, u32(0))),
      hostileFirst("header says 2^32-1 streams", () => writeChunk(avi, MAIN, 24, u32(MAX_32))),
      hostileFirst("1,000 streams", () =>
        insertBefore(
          avi,
          STREAM,
          repeat(1_000, () => strl),
        ),
      ),
      hostile("0 microseconds a frame", () => writeChunk(avi, MAIN, 0, u32(0))),
      hostile("main header of 4 bytes", () => writeSize(avi, MAIN, 4)),
      hostile("picture of 2^31-1 pixels a side", () =>
        writeChunk(avi, FORMAT, 4, concat(u32(2 ** 31 - 1), u32(2 ** 31 - 1))),
      ),
      hostile("picture of -2^31 pixels a side", () => writeChunk(avi, FORMAT, 4, concat(u32(2 ** 31), u32(2 ** 31)))),
      hostile("picture of 65,535 pixels a side", () => writeChunk(avi, FORMAT, 4, concat(u32(65_535), u32(65_535)))),
      hostile("picture of no size", () => writeChunk(avi, FORMAT, 4, zeros(8))),
      hostile("palette of 2^32-1 colors", () => writeChunk(avi, FORMAT, 32, u32(MAX_32))),
      hostile("format of 2^32-1 bytes", () => writeSize(avi, FORMAT, MAX_32)),
      hostile("format of 3 bytes", () => writeSize(avi, FORMAT, 3)),
      ...["MJPG", "DIB ", "ZLIB", "VP90", "cvid", "zzzz"].map((codec) =>
        hostile(`frames said to be ${codec.trim()}`, () =>
          writeChunk(writeChunk(avi, HEADER, 4, latin(codec)), FORMAT, 16, latin(codec)),
        ),
      ),
      ...[0, 7, 2 ** 31, MAX_32].map((size) => hostile(`movie of ${size} bytes`, () => writeSize(avi, MOVIE, size))),
      hostile("file of 0 bytes", () => writeSize(avi, "AVI ", 0)),
      hostile("index of 500,000 entries to one frame", () => index(repeat(500_000, () => firstFrame))),
      hostile("index beyond the end", () => index(entry("00dc", MAX_32, MAX_32), entry("01wb", MAX_32 - 8, 16))),
      hostile("index of streams that are not there", () =>
        index(repeat(99, (n) => entry(`${n + 10}dc`.slice(-4), 4, 10))),
      ),
      hostile("index of 2^32-1 bytes", () => writeSize(avi, INDEX, MAX_32)),
      hostile("index of indexes of 2^32-1 entries", () => superIndex(MAX_32, zeros(32))),
      hostile("index of indexes that leads to itself", () => {
        const at = chunkAt(avi, FORMAT).start;
        return superIndex(100, concat(repeat(100, () => concat(uintLE(at, 8), u32(64), u32(1)))));
      }),
      hostile("standard index of 2^32-1 frames", () => superIndex(MAX_32, zeros(64), 1)),
      hostile("records nested 1,000 deep", () =>
        insertBefore(
          avi,
          MOVIE,
          Array.from({ length: 1_000 }).reduce<Bytes>((inner) => list("rec ", inner), zeros(0)),
        ),
      ),
      hostile("100,000 frames of nothing", () =>
        insertBefore(
          avi,
          INDEX,
          list(
            "movi",
            repeat(100_000, () => chunk("00dc", zeros(0))),
          ),
        ),
      ),
      hostile("titles that name files", () =>
        insertBefore(avi, MOVIE, list("INFO", ...targets.map((path) => chunk("INAM", text(`file://${path}`))))),
      ),
      hostile("two films", () => concat(avi, avi)),
      hostile("subtitles inside that name a file", () =>
        insertBefore(
          avi,
          MOVIE,
          list(
            "strl",
            chunk("strh", concat(latin("txts"), zeros(44))),
            chunk("strf", text(targets[0]!)),
            chunk("strn", text(targets[0]!)),
          ),
        ),
      ),
    ],
  };
}
