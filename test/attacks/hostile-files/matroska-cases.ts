/** Hostile Matroska files: sizes, depth, lacing, codecs' records, attachments, linked segments, compression, times. */
import { deflateSync } from "node:zlib";
import { type Bytes, byte, concat, repeat, text, uintBE, zeros } from "./bytes";
import { type BaseFiles, type ContainerCases, type HostileCase, hostile, hostileFirst, type Targets } from "./cases";
import {
  changeElement,
  element,
  formatElement,
  ID,
  idBytes,
  parseElements,
  prepend,
  sizeBytes,
  walkMatroska,
  writeBody,
} from "./matroska-elements";

const TRACK = [ID.segment, ID.tracks, ID.track];
const VIDEO = [...TRACK, ID.video];
const INFO = [ID.segment, ID.info];
const CLUSTER = [ID.segment, ID.cluster];
const BLOCK = [...CLUSTER, ID.simpleBlock];
const MAX_SIZE = 2n ** 56n - 2n;

export function matroskaCases({ mkv }: BaseFiles, targets: Targets): ContainerCases {
  return {
    bases: [mkv],
    walk: walkMatroska,
    cases: [...sizeCases(mkv), ...blockCases(mkv), ...trackCases(mkv), ...linkCases(mkv, targets), ...timeCases(mkv)],
  };
}

/** An element in an element. */
const nested = (id: number, depth: number): Bytes => {
  const head = idBytes(id).length + 8;
  return concat(repeat(depth, (n) => concat(idBytes(id), sizeBytes(head * (depth - 1 - n)))));
};

function sizeCases(mkv: Bytes): HostileCase[] {
  const sized = (path: readonly number[], size: number | bigint | "unknown") =>
    changeElement(mkv, path, (found) => {
      const right = formatElement(found);
      const head = idBytes(found.id).length + 8;
      return concat(idBytes(found.id), sizeBytes(size), right.subarray(head));
    });
  const paths: [string, readonly number[]][] = [
    ["EBML header", [ID.header]],
    ["segment", [ID.segment]],
    ["tracks", [ID.segment, ID.tracks]],
    ["track", TRACK],
    ["cluster", CLUSTER],
    ["block", BLOCK],
    ["codec's record", [...TRACK, ID.codecPrivate]],
  ];
  return [
    ...paths.flatMap(([name, path]) => [
      hostile(`${name} of unknown size`, () => sized(path, "unknown")),
      hostile(`${name} of 2^56 bytes`, () => sized(path, MAX_SIZE)),
      hostile(`${name} of a size a little off`, (random) => sized(path, random.below(200))),
    ]),
    hostileFirst("tags nested 1,000 deep", () => prepend(mkv, [ID.segment], nested(ID.simpleTag, 1_000))),
    hostile("segments nested 50,000 deep", () => concat(mkv, nested(ID.segment, 50_000))),
    hostile("blocks in groups nested 10,000 deep", () => prepend(mkv, CLUSTER, nested(ID.blockGroup, 10_000))),
    hostile("100,000 empty elements", () =>
      prepend(
        mkv,
        [ID.segment],
        repeat(100_000, () => byte(ID.void, 0x80)),
      ),
    ),
    hostile("numbers of nine bytes", () => writeBody(mkv, [...INFO, ID.timestampScale], zeros(9))),
    hostile("20,000 entries of a seek table that lead nowhere", () =>
      prepend(
        mkv,
        [ID.segment],
        element(
          ID.seekHead,
          repeat(20_000, () =>
            element(0x4dbb, element(0x53ab, idBytes(ID.cues)), element(0x53ac, uintBE(2n ** 62n, 8))),
          ),
        ),
      ),
    ),
    hostile("a seek table that leads to itself", () =>
      prepend(
        mkv,
        [ID.segment],
        element(ID.seekHead, element(0x4dbb, element(0x53ab, idBytes(ID.seekHead)), element(0x53ac, byte(0)))),
      ),
    ),
    hostile("cues of 50,000 points", () =>
      prepend(
        mkv,
        [ID.segment],
        element(
          ID.cues,
          repeat(50_000, (n) =>
            element(
              0xbb,
              element(0xb3, uintBE(n, 4)),
              element(0xb7, element(0xf7, byte(1)), element(0xf1, uintBE(2n ** 40n, 8))),
            ),
          ),
        ),
      ),
    ),
  ];
}

function blockCases(mkv: Bytes): HostileCase[] {
  const block = (...parts: Bytes[]) => element(ID.simpleBlock, byte(0x81, 0, 0), ...parts);
  const withBlocks = (...blocks: Bytes[]) => changeElement(mkv, BLOCK, () => concat(...blocks));
  return [
    hostile("Xiph lacing of 256 frames without data", () => withBlocks(block(byte(0x82, 255)))),
    hostile("EBML lacing with sizes below zero", () => withBlocks(block(byte(0x86, 200, 0x81, 0x80, 0x80, 0x80)))),
    hostile("fixed lacing of 256 frames of nothing", () => withBlocks(block(byte(0x84, 255)))),
    hostile("Xiph lacing of endless sizes", () => withBlocks(block(byte(0x82, 2), new Uint8Array(100_000).fill(255)))),
    hostile("50,000 laced blocks of empty frames", () => withBlocks(repeat(50_000, () => block(byte(0x84, 255))))),
    hostile("blocks of a track that is not there", () => withBlocks(element(ID.simpleBlock, byte(0xff, 0, 0, 0x80)))),
    hostile("50,000 clusters of nothing", () =>
      concat(
        mkv,
        repeat(50_000, () => element(ID.cluster, element(ID.timestamp, byte(0)))),
      ),
    ),
  ];
}

function trackCases(mkv: Bytes): HostileCase[] {
  const compression = (algorithm: number, settings: Bytes) =>
    element(
      ID.encodings,
      element(
        ID.encoding,
        element(
          ID.compression,
          element(ID.compressionAlgorithm, byte(algorithm)),
          element(ID.compressionSettings, settings),
        ),
      ),
    );
  const bomb = (bytes: number) =>
    changeElement(prepend(mkv, TRACK, compression(0, zeros(0))), BLOCK, () =>
      element(ID.simpleBlock, byte(0x81, 0, 0, 0x80), deflateSync(zeros(bytes))),
    );
  const track = formatElement(
    parseElements(mkv)
      .find((found) => found.id === ID.segment)!
      .children!.find((found) => found.id === ID.tracks)!.children![0]!,
  );
  const size = (width: bigint) =>
    writeBody(
      writeBody(mkv, [...VIDEO, ID.pixelWidth], uintBE(width, 8)),
      [...VIDEO, ID.pixelHeight],
      uintBE(width, 8),
    );
  return [
    hostileFirst("blocks that inflate to 64 MB", () => bomb(64 * 1024 * 1024)),
    hostile("codec's record that inflates to 32 MB", () =>
      prepend(
        writeBody(mkv, [...TRACK, ID.codecPrivate], deflateSync(zeros(32 * 1024 * 1024))),
        TRACK,
        element(
          ID.encodings,
          element(
            ID.encoding,
            element(0x5032, byte(2)),
            element(ID.compression, element(ID.compressionAlgorithm, byte(0))),
          ),
        ),
      ),
    ),
    hostile("compression of a kind that there is none of", () => prepend(mkv, TRACK, compression(200, zeros(3)))),
    hostile("header that is put before each frame, 1 MB", () => prepend(mkv, TRACK, compression(3, zeros(1_000_000)))),
    hostile("encryption", () =>
      prepend(
        mkv,
        TRACK,
        element(ID.encodings, element(ID.encoding, element(0x5033, byte(1)), element(0x5035, zeros(0)))),
      ),
    ),
    hostile("codec's record of 3 bytes", () => writeBody(mkv, [...TRACK, ID.codecPrivate], byte(1, 2, 3))),
    hostile("codec's record of random bits", (random) =>
      writeBody(mkv, [...TRACK, ID.codecPrivate], random.bytes(300)),
    ),
    hostile("codec of another kind", () => writeBody(mkv, [...TRACK, ID.codecId], text("A_AC3"))),
    hostile("codec of Windows with a record cut short", () =>
      writeBody(mkv, [...TRACK, ID.codecId], text("V_MS/VFW/FOURCC")),
    ),
    hostile("picture of 2^31 pixels a side", () => size(2n ** 31n)),
    hostile("picture of 2^63 pixels a side", () => size(2n ** 63n)),
    hostile("picture of no size", () => size(0n)),
    hostile("1,000 tracks", () =>
      prepend(
        mkv,
        [ID.segment, ID.tracks],
        repeat(1_000, () => track),
      ),
    ),
    hostile("one frame a year", () =>
      prepend(mkv, TRACK, element(ID.defaultDuration, uintBE(31_536_000n * 10n ** 9n, 8))),
    ),
    hostile("delay of years", () => prepend(mkv, TRACK, element(ID.codecDelay, uintBE(2n ** 63n, 8)))),
  ];
}

function linkCases(mkv: Bytes, targets: Targets): HostileCase[] {
  const links = targets.flatMap((path) => [
    element(ID.previousFile, text(path)),
    element(ID.nextFile, text(`file://${path}`)),
    element(ID.segmentFile, text(path)),
    element(ID.nextUid, zeros(16)),
  ]);
  const attachment = (name: string, type: string, data: Bytes) =>
    element(
      ID.attachments,
      element(
        ID.attachedFile,
        element(ID.fileName, text(name)),
        element(ID.fileType, text(type)),
        element(ID.fileData, data),
      ),
    );
  const tag = (value: Bytes) =>
    prepend(
      mkv,
      [ID.segment],
      element(
        ID.tags,
        element(ID.tag, element(ID.simpleTag, element(ID.tagName, text("TITLE")), element(ID.tagString, value))),
      ),
    );
  return [
    hostileFirst("segments that go on in other files", () => prepend(mkv, INFO, ...links)),
    hostile("attachment that names another file", () =>
      prepend(mkv, [ID.segment], ...targets.map((path) => attachment(`../../..${path}`, "text/plain", text(path)))),
    ),
    hostile("attachment that is a playlist", () =>
      prepend(
        mkv,
        [ID.segment],
        attachment("a.m3u8", "application/x-mpegurl", text(`#EXTM3U\n#EXTINF:1,\n${targets[0]}\n`)),
      ),
    ),
    hostile("attachment that claims to be larger than the file", () =>
      concat(mkv, idBytes(ID.attachments), sizeBytes(2 ** 40), idBytes(ID.attachedFile), sizeBytes(2 ** 40)),
    ),
    hostile("1,000 attachments", () =>
      prepend(
        mkv,
        [ID.segment],
        repeat(1_000, (n) => attachment(`${n}.png`, "image/png", zeros(10))),
      ),
    ),
    hostile("title that looks like ffmpeg's own lines", () =>
      tag(text("\n  Duration: 9999:00:00.00\n    Stream #0:9: Video: h264")),
    ),
    hostile("title of control characters", () => tag(byte(...Array.from({ length: 256 }, (_, n) => n)))),
    hostile("chapters nested 5,000 deep", () =>
      prepend(mkv, [ID.segment], element(ID.chapters, element(ID.chapterEdition, nested(ID.chapterAtom, 5_000)))),
    ),
  ];
}

function timeCases(mkv: Bytes): HostileCase[] {
  const infinity = new Uint8Array(new BigUint64Array([0x7ff0000000000000n]).buffer).reverse();
  return [
    hostile("duration that is infinite", () => writeBody(mkv, [...INFO, ID.duration], infinity)),
    hostile("duration that is no number", () =>
      writeBody(mkv, [...INFO, ID.duration], byte(0x7f, 0xff, 255, 255, 255, 255, 255, 255)),
    ),
    hostile("timestamp scale 0", () => writeBody(mkv, [...INFO, ID.timestampScale], byte(0))),
    hostile("timestamp scale of an hour", () =>
      writeBody(mkv, [...INFO, ID.timestampScale], uintBE(3_600n * 10n ** 9n, 8)),
    ),
    hostile("timestamp scale of 2^63", () => writeBody(mkv, [...INFO, ID.timestampScale], uintBE(2n ** 63n, 8))),
    hostile("cluster in years", () => writeBody(mkv, [...CLUSTER, ID.timestamp], uintBE(2n ** 62n, 8))),
    hostile("sampling rate below zero", () =>
      prepend(
        mkv,
        TRACK,
        element(ID.audio, element(ID.samplingRate, byte(0xc4, 0, 0, 0)), element(ID.channels, uintBE(2n ** 32n, 8))),
      ),
    ),
  ];
}
