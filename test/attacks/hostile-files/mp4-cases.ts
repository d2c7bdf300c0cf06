/**
 * Hostile MP4 and QuickTime files: sizes, counts, tables, times, dimensions, edit lists, codecs' records, fragments.
 */
import { type Bytes, byte, concat, latin, overwrite, readBE, repeat, splice, uintBE, zeros } from "./bytes";
import { type BaseFiles, type ContainerCases, type HostileCase, hostile, hostileFirst, type Targets } from "./cases";
import { addBoxes, boxAt, changeBox, walkMp4, writeField, writeFields } from "./mp4-boxes";
import { mp4DepthCases } from "./mp4-depth-cases";

const TABLES = "moov/trak/mdia/minf/stbl";
const MAX_32 = 2 ** 32 - 1;
const u32 = (value: number) => uintBE(value, 4);
const full = (...parts: readonly Bytes[]) => concat(zeros(4), ...parts);

/** Offset of the entry count of a table in its box. */
const COUNTS: Record<string, number> = {
  [`${TABLES}/stts`]: 4,
  [`${TABLES}/ctts`]: 4,
  [`${TABLES}/stsc`]: 4,
  [`${TABLES}/stsz`]: 8,
  [`${TABLES}/stco`]: 4,
  [`${TABLES}/stss`]: 4,
  [`${TABLES}/stsd`]: 4,
  "moov/trak/edts/elst": 4,
  "moov/trak/mdia/minf/dinf/dref": 4,
};

export function mp4Cases(bases: BaseFiles, targets: Targets): ContainerCases {
  const { mp4, fragmented } = bases;
  return {
    bases: [mp4, fragmented],
    walk: walkMp4,
    cases: [
      ...tableCases(mp4),
      ...sizeCases(mp4),
      ...countCases(mp4),
      ...timeCases(mp4),
      ...videoSampleEntryCases(mp4),
      ...editCases(mp4),
      ...fragmentCases(fragmented),
      ...mp4DepthCases(mp4, targets),
    ],
  };
}

/** Counts inside the tables: a few bytes that stand for billions of samples. */
function tableCases(mp4: Bytes): HostileCase[] {
  const table = (name: string, ...fields: Bytes[]) => writeFields(mp4, `${TABLES}/${name}`, full(...fields));
  return [
    hostileFirst("stts of 2^32-1 samples", () => table("stts", u32(1), u32(MAX_32), u32(1))),
    hostileFirst("stts of 200 million samples", () => table("stts", u32(1), u32(200_000_000), u32(1))),
    hostile("stts of 1,000 times 2^32-1 samples", () =>
      table(
        "stts",
        u32(1_000),
        repeat(1_000, () => concat(u32(MAX_32), u32(MAX_32))),
      ),
    ),
    hostile("stts of no duration", () => table("stts", u32(1), u32(10), u32(0))),
    hostile("stts of negative durations", () => table("stts", u32(1), u32(10), u32(-1024))),
    hostile("stts of years", () => table("stts", u32(1), u32(10), u32(MAX_32))),
    hostileFirst("ctts of 2^32-1 samples", () => table("ctts", u32(1), u32(MAX_32), u32(1))),
    hostile("ctts far below zero", () => table("ctts", u32(1), u32(10), u32(-(2 ** 31)))),
    hostile("ctts signed, one frame years early", () =>
      writeFields(mp4, `${TABLES}/ctts`, concat(u32(0x01000000), u32(2), u32(1), u32(-(2 ** 31)), u32(9), u32(0))),
    ),
    hostileFirst("stsc of 2^32-1 samples in a chunk", () => table("stsc", u32(1), u32(1), u32(MAX_32), u32(1))),
    hostile("stsc whose chunks go back", () => table("stsc", u32(3), ...[1, 5, 1, MAX_32, 5, 1, 0, 5, 1].map(u32))),
    hostile("stsc whose first chunk is 2^32-1", () => table("stsc", u32(1), u32(MAX_32), u32(10), u32(1))),
    hostile("stsc of a description that is not there", () => table("stsc", u32(1), u32(1), u32(10), u32(77))),
    hostileFirst("stsz of 2^32-1 equal samples", () => table("stsz", u32(1), u32(MAX_32))),
    hostile("stsz of 2^32-1 empty samples", () => table("stsz", u32(0), u32(MAX_32))),
    hostile("stsz with a sample of 2 GiB", () => writeField(mp4, `${TABLES}/stsz`, 12, u32(2 ** 31))),
    hostile("stco beyond the end", () => writeField(mp4, `${TABLES}/stco`, 8, u32(MAX_32))),
    hostile("stco into the header", () => writeField(mp4, `${TABLES}/stco`, 8, u32(0))),
    hostile("stco of 500,000 chunks at one place", () =>
      table(
        "stco",
        u32(500_000),
        repeat(500_000, () => u32(48)),
      ),
    ),
    hostile("stss of every sample 100,000 times", () =>
      table(
        "stss",
        u32(100_000),
        repeat(100_000, () => u32(1)),
      ),
    ),
    hostile("no tables at all", () => changeBox(mp4, TABLES, () => [])),
  ];
}

function sizeCases(mp4: Bytes): HostileCase[] {
  const sizes: [string, number][] = [
    ["0", 0],
    ["1", 1],
    ["7", 7],
    ["2^31", 2 ** 31],
    ["2^32-1", MAX_32],
  ];
  const places = [
    "ftyp",
    "moov",
    "moov/trak",
    "mdat",
    "moov/mvhd",
    `${TABLES}/stts`,
    `${TABLES}/stsd`,
    "moov/udta/meta",
  ];
  const large = [2n ** 63n, 2n ** 64n - 1n, 15n, 2n ** 33n];
  return [
    ...sizes.map(([shown, size], n) => {
      const path = places[n % places.length]!;
      return hostile(`${path} of size ${shown}`, () => overwrite(mp4, boxAt(mp4, path), u32(size)));
    }),
    hostile("a box anywhere of a size out of the list", (random) =>
      overwrite(mp4, random.pick(walkMp4(mp4)).start, u32(random.pick(sizes)[1])),
    ),
    ...large.map((size, n) =>
      hostile(`${n % 2 ? "moov" : "mdat"} of the 64-bit size ${size}`, () => {
        const at = boxAt(mp4, n % 2 ? "moov" : "mdat");
        return splice(mp4, at, at + 8, u32(1), latin(n % 2 ? "moov" : "mdat"), uintBE(size, 8));
      }),
    ),
  ];
}

function countCases(mp4: Bytes): HostileCase[] {
  return Object.entries(COUNTS).flatMap(([path, at]) => {
    const start = boxAt(mp4, path) + 8 + at;
    const right = readBE(mp4, start, 4);
    const name = path.split("/").at(-1);
    return [
      hostile(`${name} with the count 2^32-1`, () => overwrite(mp4, start, u32(MAX_32))),
      hostile(`${name} with a count that is a little off`, (random) =>
        overwrite(mp4, start, u32(random.pick([right + 1, right - 1, 0, right + 1_000, 2 ** 24]))),
      ),
    ];
  });
}

function timeCases(mp4: Bytes): HostileCase[] {
  const scale = (path: string, value: number) => writeField(mp4, path, 12, u32(value));
  return [
    ...[0, 1, MAX_32].flatMap((value) => [
      hostile(`movie timescale ${value}`, () => scale("moov/mvhd", value)),
      hostile(`track timescale ${value}`, () => scale("moov/trak/mdia/mdhd", value)),
    ]),
    hostile("durations of years", () =>
      ["moov/mvhd", "moov/trak/mdia/mdhd"].reduce((file, path) => writeField(file, path, 16, u32(MAX_32)), mp4),
    ),
    hostile("track duration of years", () => writeField(mp4, "moov/trak/tkhd", 20, u32(MAX_32))),
    hostile("a transformation of huge numbers", () =>
      writeField(mp4, "moov/trak/tkhd", 40, concat(repeat(9, () => u32(0x7fffffff)))),
    ),
  ];
}

function videoSampleEntryCases(mp4: Bytes): HostileCase[] {
  const entry = `${TABLES}/stsd/avc1`;
  const size = (width: number, height: number) =>
    writeField(mp4, entry, 24, concat(uintBE(width, 2), uintBE(height, 2)));
  return [
    hostile("picture of no size", () => size(0, 0)),
    hostile("picture of 65,535 pixels a side", () => size(65_535, 65_535)),
    hostile("track header of 2^31 pixels", () =>
      writeField(mp4, "moov/trak/tkhd", 76, concat(u32(2 ** 31), u32(2 ** 31))),
    ),
    hostile("avcC with 31 parameter sets that are not there", () =>
      writeField(mp4, `${entry}/avcC`, 5, byte(0xff, 0xff, 0xff)),
    ),
    hostile("avcC of random bits", (random) => writeFields(mp4, `${entry}/avcC`, random.bytes(60))),
    hostile("parameter set of a picture of 2^31 macroblocks", (random) =>
      writeField(mp4, `${entry}/avcC`, 12, concat(zeros(4), random.bytes(12))),
    ),
    hostile("pixels 2^32-1 to 1", () => addBoxes(mp4, entry, concat(u32(16), latin("pasp"), u32(MAX_32), u32(1)))),
    hostile("codec that there is none of", () => overwrite(mp4, boxAt(mp4, entry) + 4, latin("zzzz"))),
    hostile("codec of another kind", () => overwrite(mp4, boxAt(mp4, entry) + 4, latin("tmcd"))),
    hostile("sample entry cut short", () =>
      changeBox(mp4, entry, (e) => [{ ...e, fields: e.fields.slice(0, 9), children: [] }]),
    ),
  ];
}

function editCases(mp4: Bytes): HostileCase[] {
  const list = (count: number, entry: Bytes) =>
    writeFields(
      mp4,
      "moov/trak/edts/elst",
      full(
        u32(count),
        repeat(count, () => entry),
      ),
    );
  const edit = (duration: number, time: number, rate: number) => concat(u32(duration), u32(time), u32(rate));
  return [
    hostileFirst("edit list of 2^20 entries", () => list(2 ** 20, edit(1, 0, 0x10000))),
    hostile("edit list of 20,000 empty entries", () => list(20_000, edit(100, -1, 0x10000))),
    hostile("edits at a negative rate", () => list(3, edit(1_000, 512, -0x10000))),
    hostile("edit of years", () => list(1, edit(MAX_32, 0, 0x10000))),
    hostile("empty edit of years", () => list(2, edit(MAX_32, -1, 0x10000))),
    hostile("edit far before the media", () => list(1, edit(1_000, -(2 ** 31), 0x10000))),
    hostile("edit far behind the media", () => list(1, edit(1_000, 2 ** 31 - 1, 0x10000))),
    hostile("edit at rate 0", () => list(1, edit(1_000, 0, 0))),
  ];
}

function fragmentCases(file: Bytes): HostileCase[] {
  const run = "moof/traf/trun";
  return [
    hostileFirst("trun of 2^32-1 samples", () => writeField(file, run, 4, u32(MAX_32))),
    hostile("trun without fields of 2^32-1 samples", () => writeFields(file, run, concat(u32(0), u32(MAX_32)))),
    hostile("trun of 50 million samples of one size", () => writeFields(file, run, concat(u32(0), u32(50_000_000)))),
    hostile("trun whose data is before the file", () => writeField(file, run, 8, u32(-(2 ** 31)))),
    hostile("sidx of 65,535 references", () => writeField(file, "sidx", 30, uintBE(65_535, 2))),
    hostile("sidx that refers to itself", () => writeField(file, "sidx", 32, u32(2 ** 31))),
    hostile("tfhd of a track that is not there", () => writeField(file, "moof/traf/tfhd", 4, u32(99))),
    hostile("tfdt of years", () => writeFields(file, "moof/traf/tfdt", concat(u32(0x01000000), uintBE(2n ** 62n, 8)))),
    hostile("trex of 2^32-1 everywhere", () =>
      writeField(file, "moov/mvex/trex", 4, concat(repeat(5, () => u32(MAX_32)))),
    ),
    hostile("one fragment 3,000 times", () => {
      const boxes = walkMp4(file);
      const moof = boxes.find((b) => b.name === "moof")!;
      const mdat = boxes.find((b) => b.name === "mdat")!;
      const fragment = file.slice(moof.start, mdat.end);
      return concat(
        file.slice(0, moof.start),
        repeat(3_000, () => fragment),
      );
    }),
  ];
}
