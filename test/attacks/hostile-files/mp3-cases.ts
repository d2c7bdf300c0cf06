/** Hostile MP3 files: tags with false lengths, frames that change, counts of frames, further tags at the end. */
import {
  type Bytes,
  byte,
  concat,
  find,
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

const BITRATES = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0];
const TAG_BYTES = 10;

const syncSafe = (value: number): Bytes => byte(value >>> 21, (value >>> 14) & 127, (value >>> 7) & 127, value & 127);
const readSyncSafe = (file: Bytes, at: number): number =>
  [0, 1, 2, 3].reduce((sum, n) => sum * 128 + (file[at + n]! & 127), 0);

/** The tag, its frames, and the audio frames: MPEG-2 layer III at 16 kHz. */
export function walkMp3(file: Bytes): Structure[] {
  const found: Structure[] = [];
  let at = 0;
  if (String.fromCharCode(...file.subarray(0, 3)) === "ID3") {
    const end = TAG_BYTES + readSyncSafe(file, 6);
    found.push({ name: "tag", start: 0, headerEnd: TAG_BYTES, end: Math.min(end, file.length) });
    for (at = TAG_BYTES; at + 10 <= end && file[at]! > 0; ) {
      const frameEnd = at + 10 + readSyncSafe(file, at + 4);
      found.push({ name: "tag frame", start: at, headerEnd: at + 10, end: Math.min(end, frameEnd) });
      at = frameEnd;
    }
    at = end;
  }
  for (; at + 4 <= file.length && file[at] === 0xff; ) {
    const bitrate = BITRATES[file[at + 2]! >> 4]! * 1_000;
    const size = Math.floor((72 * bitrate) / 16_000) + ((file[at + 2]! >> 1) & 1);
    if (size === 0) break;
    found.push({ name: "frame", start: at, headerEnd: at + 4, end: Math.min(file.length, at + size) });
    at += size;
  }
  return found;
}

export function mp3Cases({ mp3 }: BaseFiles, targets: Targets): ContainerCases {
  const frames = walkMp3(mp3).filter((found) => found.name === "frame");
  const audio = mp3.slice(frames[0]!.start);
  const frame = (id: string, body: Bytes, claimed = body.length) =>
    concat(latin(id), syncSafe(claimed), zeros(2), body);
  const tag = (body: Bytes, claimed = body.length, flags = 0) =>
    concat(latin("ID3"), byte(4, 0, flags), syncSafe(claimed), body);
  const tagged = (...parts: Bytes[]) => concat(tag(concat(...parts)), audio);
  const heads = (change: (head: Bytes, number: number) => Bytes) =>
    frames.reduce((file, { start }, n) => overwrite(file, start, change(file.slice(start, start + 4), n)), mp3);
  const xing = find(mp3, "Info");
  const picture = (type: string, data: Bytes) => frame("APIC", concat(byte(0), text(type), byte(0, 3, 0), data));
  const ape = (size: number, count: number, body: Bytes) =>
    concat(audio, body, latin("APETAGEX"), uintLE(2_000, 4), uintLE(size, 4), uintLE(count, 4), zeros(12));
  return {
    bases: [mp3],
    walk: walkMp3,
    cases: [
      hostileFirst("tag of 256 MB", () => concat(tag(zeros(100), 2 ** 28 - 1), audio)),
      hostile("tag of 0 bytes", () => overwrite(mp3, 6, zeros(4))),
      hostile("tag whose length is not sync-safe", () => overwrite(mp3, 6, byte(255, 255, 255, 255))),
      hostile("tag that ends in the middle of a frame", () => overwrite(mp3, 6, syncSafe(readBE(mp3, 6, 4) + 77))),
      hostile("tag with an extended header of 2^32-1 bytes", () =>
        concat(tag(concat(byte(255, 255, 255, 255), zeros(90)), 94, 0x40), audio),
      ),
      hostile("1,000 tags one after the other", () =>
        concat(
          repeat(1_000, () => tag(zeros(0))),
          audio,
        ),
      ),
      hostile("tag frame of 2^28-1 bytes", () => tagged(frame("TIT2", text("\u0003a"), 2 ** 28 - 1))),
      hostile("10,000 tag frames", () => tagged(repeat(10_000, () => frame("TXXX", text("\u0003a\0b"))))),
      hostile("compressed tag frame that is a bomb", () =>
        tagged(concat(latin("TIT2"), syncSafe(60), byte(0, 0x09), syncSafe(2 ** 28 - 1), zeros(56))),
      ),
      hostile("title of control characters", () =>
        tagged(frame("TIT2", concat(byte(3), byte(...Array.from({ length: 256 }, (_, n) => n))))),
      ),
      hostile("title in half a surrogate", () => tagged(frame("TIT2", byte(1, 0xff, 0xfe, 0, 0xd8)))),
      ...targets
        .slice(0, 2)
        .map((path, n) =>
          hostile(`cover that is an address of a file, ${n + 1}`, () => tagged(picture("-->", text(`file://${path}`)))),
        ),
      hostile("cover that is a playlist", () =>
        tagged(picture("image/png", text(`#EXTM3U\n#EXTINF:1,\n${targets[0]}\n`))),
      ),
      hostile("cover of 65,535 pixels a side", () =>
        tagged(
          picture(
            "image/png",
            concat(
              latin("\x89PNG\r\n\x1a\n"),
              uintBE(13, 4),
              latin("IHDR"),
              uintBE(65_535, 4),
              uintBE(65_535, 4),
              byte(8, 6, 0, 0, 0),
              zeros(4),
            ),
          ),
        ),
      ),
      hostile("500 covers", () => tagged(repeat(500, () => picture("image/png", zeros(40))))),
      hostile("chapters in chapters", () =>
        tagged(frame("CHAP", concat(text("a\0"), new Uint8Array(16).fill(255), frame("CHAP", zeros(30))))),
      ),
      hostile("rate that changes with each frame", () =>
        heads((head, n) => overwrite(head, 2, byte((head[2]! & 0xf3) | ((n % 3) << 2)))),
      ),
      hostile("layer that changes with each frame", () =>
        heads((head, n) => overwrite(head, 1, byte((head[1]! & 0xf9) | ((1 + (n % 3)) << 1)))),
      ),
      hostile("version that changes with each frame", () =>
        heads((head, n) => overwrite(head, 1, byte((head[1]! & 0xe7) | ((n % 4) << 3)))),
      ),
      hostile("channels that change with each frame", () =>
        heads((head, n) => overwrite(head, 3, byte((head[3]! & 0x3f) | ((n % 4) << 6)))),
      ),
      hostile("free bitrate", () => heads((head) => overwrite(head, 2, byte(head[2]! & 0x0f)))),
      hostile("bitrate that there is none of", () =>
        heads((head, n) => (n < 3 ? head : overwrite(head, 2, byte(head[2]! | 0xf0)))),
      ),
      hostileFirst("count of 2^32-1 frames", () => overwrite(mp3, xing + 8, byte(255, 255, 255, 255))),
      hostile("count of 2^32-1 bytes", () => overwrite(mp3, xing + 12, byte(255, 255, 255, 255))),
      hostile("count of no frames", () => overwrite(mp3, xing + 8, zeros(8))),
      hostile("delay and padding of 4,095", () => overwrite(mp3, find(mp3, "Lav", xing) + 21, byte(255, 255, 255))),
      hostile("VBRI with 65,535 entries", () =>
        splice(mp3, xing, xing + 26, latin("VBRI"), new Uint8Array(22).fill(255)),
      ),
      hostileFirst("APE tag of 2^32-1 bytes", () => ape(2 ** 32 - 1, 1, zeros(100))),
      hostile("APE tag of 2^32-1 entries", () => ape(132, 2 ** 32 - 1, zeros(100))),
      hostile("APE tag of 0 bytes", () => ape(0, 0, zeros(0))),
      hostile("old tag of control characters", () =>
        concat(audio, latin("TAG"), byte(...Array.from({ length: 125 }, (_, n) => n % 32))),
      ),
      hostile("lyrics that never start", () => concat(audio, latin("999999LYRICS200"), latin("TAG"), zeros(125))),
      hostile("frame headers only", () => concat(repeat(20_000, () => audio.subarray(0, 4)))),
      hostile("200,000 bytes between two frames", (random) => concat(audio, random.bytes(200_000), audio)),
    ],
  };
}
