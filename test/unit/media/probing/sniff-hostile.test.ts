/** Sniffing runs in the server's own process on the first bytes of each upload, so it must end soon for any bytes. */
import { expect, test } from "bun:test";
import { sniffMedia } from "../../../../src/media/probing/sniff";
import { measureProcessorMs } from "../../../processor-time";

const HEAD_BYTES = 16 * 1024;
/** Far above the usual few milliseconds, and far below a noticeable delay. */
const MAX_PROCESSOR_MS = 400;

const ASF_HEADER = "3026b2758e66cf11a6d900aa0062ce6c";
const STREAM_PROPERTIES = "9107dcb7b7a9cf118ee600c00c205365";

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));
const text = (value: string): Uint8Array => Uint8Array.from(Buffer.from(value, "latin1"));

/** Beginnings that make a recognizer read further into the file. */
const BEGINNINGS: Record<string, Uint8Array> = {
  nothing: new Uint8Array(0),
  "ID3 of no bytes": bytes("49443303000000000000"),
  "ID3 of all bytes": bytes("4944330300007f7f7f7f"),
  "Matroska without a type": bytes("1a45dfa301ffffffffffffff"),
  "Matroska with elements of no bytes": bytes("1a45dfa3ff"),
  ASF: bytes(`${ASF_HEADER}1e00000000000000ffffffff0102`),
  "ASF with an object of no bytes": bytes(`${ASF_HEADER}1e00000000000000ffffffff0102${"00".repeat(24)}`),
  "ASF with an object of negative length": bytes(
    `${ASF_HEADER}1e00000000000000ffffffff0102${STREAM_PROPERTIES}${"ff".repeat(8)}`,
  ),
  OGG: text("OggS\0\x02"),
  RIFF: text("RIFF\xff\xff\xff\xffAVI "),
  MP4: bytes("00000018667479706d703432"),
  "MP4 box of no bytes": bytes("0000000066747970"),
  FLAC: text("fLaC"),
  "MPEG audio": bytes("fffb9064"),
  PNG: bytes("89504e470d0a1a0a"),
  gzip: bytes("1f8b0800000000000003"),
  zip: bytes("504b0304"),
  "TIFF, little": bytes("49492a0008000000"),
  "TIFF, big": bytes("4d4d002a00000008"),
  XML: text("<?xml "),
  CFB: bytes("d0cf11e0a1b11ae1"),
};

/** Returns pseudo-random bytes that are the same each time. */
function noise(seed: number): Uint8Array {
  const filled = new Uint8Array(HEAD_BYTES);
  let state = seed;
  for (let n = 0; n < filled.length; n++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    filled[n] = state >>> 24;
  }
  return filled;
}

const repeated = (pattern: Uint8Array): Uint8Array =>
  Uint8Array.from({ length: HEAD_BYTES }, (_, n) => (pattern.length === 0 ? 0 : pattern[n % pattern.length]!));

async function slowest(heads: Iterable<Uint8Array>): Promise<number> {
  let most = 0;
  for (const head of heads) most = Math.max(most, await measureProcessorMs(() => sniffMedia(head)));
  return most;
}

const join = (beginning: Uint8Array, rest: Uint8Array): Uint8Array => {
  const head = rest.slice();
  head.set(beginning.subarray(0, HEAD_BYTES));
  return head;
};

test.each(Object.keys(BEGINNINGS))("%s, followed by anything, is recognized or rejected soon", async (name) => {
  const beginning = BEGINNINGS[name]!;
  const rests = [
    ...Object.values(BEGINNINGS).map(repeated),
    repeated(bytes("ff")),
    repeated(bytes("ffffffff00000000")),
    ...Array.from({ length: 30 }, (_, n) => noise(n + 1)),
  ];
  expect(await slowest(rests.map((rest) => join(beginning, rest)))).toBeLessThan(MAX_PROCESSOR_MS);
});

test("archives with a high compression ratio are not unpacked", async () => {
  const packed = Bun.gzipSync(new Uint8Array(12_000_000));
  const tagged = join(bytes("49443303000000000000"), new Uint8Array(HEAD_BYTES));
  tagged.set(packed.subarray(0, HEAD_BYTES - 10), 10);
  expect(await slowest([packed.subarray(0, HEAD_BYTES), tagged])).toBeLessThan(MAX_PROCESSOR_MS);
  expect(await sniffMedia(packed)).toBeNull();
});
