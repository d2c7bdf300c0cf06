/** Hostile MPEG transport streams: tables, section lengths, adaptation fields, packet ids, times that jump. */
import { type Bytes, byte, concat, overwrite, readBE, repeat, splice, text, uintBE, zeros } from "./bytes";
import { type BaseFiles, type ContainerCases, hostile, hostileFirst, type Structure, type Targets } from "./cases";

const PACKET_BYTES = 188;
const PAT_PID = 0;

/** The packets. */
export function walkTs(file: Bytes): Structure[] {
  return Array.from({ length: Math.ceil(file.length / PACKET_BYTES) }, (_, n) => {
    const start = n * PACKET_BYTES;
    return {
      name: `packet ${pidOf(file, start)}`,
      start,
      headerEnd: Math.min(file.length, start + 4),
      end: Math.min(file.length, start + PACKET_BYTES),
    };
  });
}

const pidOf = (file: Bytes, at: number): number => readBE(file, at + 1, 2) & 0x1fff;

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n << 24;
  for (let bit = 0; bit < 8; bit++) value = value & 0x80000000 ? (value << 1) ^ 0x04c11db7 : value << 1;
  return value >>> 0;
});
const crc = (bytes: Bytes): Bytes =>
  uintBE(
    bytes.reduce((sum, next) => ((sum << 8) ^ TABLE[((sum >>> 24) ^ next) & 255]!) >>> 0, 0xffffffff),
    4,
  );

/** A packet with one section of a table. */
function section(pid: number, table: number, body: Bytes, claimed = body.length + 9): Bytes {
  const head = concat(byte(table), uintBE(0xb000 | (claimed & 0xfff), 2), uintBE(1, 2), byte(0xc1, 0, 0), body);
  const packet = concat(byte(0x47), uintBE(0x4000 | pid, 2), byte(0x10, 0), head, crc(head));
  return concat(packet, new Uint8Array(PACKET_BYTES).fill(255)).slice(0, PACKET_BYTES);
}

export function tsCases({ ts }: BaseFiles, targets: Targets): ContainerCases {
  const packets = walkTs(ts);
  const isMedia = (at: number) => pidOf(ts, at) > 0xff && pidOf(ts, at) < 0x1000;
  const each = (isChosen: (at: number, n: number) => boolean, change: (packet: Bytes, n: number) => Bytes) =>
    concat(
      ...packets.map(({ start, end }, n) =>
        isChosen(start, n) ? change(ts.slice(start, end), n) : ts.slice(start, end),
      ),
    );
  const pmtPid = pidOf(ts, packets.find(({ start }) => pidOf(ts, start) === 0x1000)!.start);
  const tables = (pid: number, change: (packet: Bytes, n: number) => Bytes) =>
    each((at) => pidOf(ts, at) === pid, change);
  /** Packets in which a frame starts, whose timestamp follows its start code. */
  const times = (change: (ticks: bigint, n: number) => bigint) => {
    let frames = 0;
    return each(
      (at) => isMedia(at) && (ts[at + 1]! & 0x40) > 0,
      (packet) => {
        const pes = 4 + ((packet[3]! & 0x20) > 0 ? 1 + packet[4]! : 0);
        if ((packet[pes + 7]! & 0x80) === 0) return packet;
        const value = BigInt.asUintN(33, change(BigInt(frames * 3_600), frames++));
        const mark = BigInt(packet[pes + 9]! >> 4);
        const stamp =
          (mark << 36n) |
          ((value >> 30n) << 33n) |
          (1n << 32n) |
          (((value >> 15n) & 0x7fffn) << 17n) |
          (1n << 16n) |
          ((value & 0x7fffn) << 1n) |
          1n;
        return overwrite(packet, pes + 9, uintBE(stamp, 5));
      },
    );
  };
  const programs = (count: number, pid: (n: number) => number) =>
    concat(repeat(count, (n) => concat(uintBE(n + 1, 2), uintBE(0xe000 | pid(n), 2))));
  const streams = (count: number, type: number) =>
    concat(
      uintBE(0xe100, 2),
      uintBE(0xf000, 2),
      repeat(count, (n) => concat(byte(type), uintBE(0xe200 + n, 2), uintBE(0xf000, 2))),
    );
  return {
    bases: [ts],
    walk: walkTs,
    cases: [
      hostileFirst("program table that leads to itself", () =>
        tables(PAT_PID, () =>
          section(
            PAT_PID,
            0,
            programs(30, () => PAT_PID),
          ),
        ),
      ),
      hostile("40 programs in one packet", () =>
        tables(PAT_PID, () =>
          section(
            PAT_PID,
            0,
            programs(40, (n) => 0x1000 + n),
          ),
        ),
      ),
      hostile("program whose table is the picture", () =>
        tables(PAT_PID, () =>
          section(
            PAT_PID,
            0,
            programs(1, () => 0x100),
          ),
        ),
      ),
      hostile("33 streams", () => tables(pmtPid, () => section(pmtPid, 2, streams(33, 0x1b)))),
      hostile("streams of a kind that there is none of", () =>
        tables(pmtPid, () => section(pmtPid, 2, streams(9, 0xee))),
      ),
      hostileFirst("8,000 streams in 300 program tables", () =>
        concat(
          section(
            PAT_PID,
            0,
            programs(40, (n) => 0x1000 + n),
          ),
          repeat(300, (n) =>
            section(
              0x1000 + (n % 40),
              2,
              concat(
                uintBE(0xe100, 2),
                uintBE(0xf000, 2),
                repeat(30, (s) => concat(byte(0x0f), uintBE(0xe000 | ((n * 30 + s) % 8_000), 2), uintBE(0xf000, 2))),
              ),
            ),
          ),
          ts,
        ),
      ),
      ...[0, 1, 0xfff].map((length) =>
        hostile(`section of ${length} bytes`, () => tables(pmtPid, (p) => overwrite(p, 6, uintBE(0xb000 | length, 2)))),
      ),
      hostile("descriptors of 4,095 bytes", () => tables(pmtPid, (p) => overwrite(p, 15, uintBE(0xffff, 2)))),
      hostile("section that starts after its packet", () => tables(pmtPid, (p) => overwrite(p, 4, byte(255)))),
      hostile("tables with wrong checksums", () => tables(pmtPid, (p) => overwrite(p, 30, byte(1, 2, 3, 4)))),
      hostile("adaptation field of 255 bytes", () => each(isMedia, (p) => overwrite(p, 3, byte(0x30, 255)))),
      hostile("adaptation field of 183 bytes", () =>
        each(
          (at, n) => isMedia(at) && n % 2 > 0,
          (p) => overwrite(p, 3, byte(0x30, 183, 0xff)),
        ),
      ),
      hostile("nothing but adaptation fields", () => each(isMedia, (p) => overwrite(p, 3, byte(0x20, 183)))),
      hostile("all packets of one stream", () =>
        each(isMedia, (p) => overwrite(p, 1, uintBE((readBE(p, 1, 2) & 0xe000) | 0x100, 2))),
      ),
      hostile("a separate stream for each packet", () =>
        each(isMedia, (p, n) => overwrite(p, 1, uintBE((readBE(p, 1, 2) & 0xe000) | (n + 0x200), 2))),
      ),
      hostile("packets marked as damaged", () => each(isMedia, (p) => overwrite(p, 1, byte(p[1]! | 0x80)))),
      hostile("packets marked as encrypted", () => each(isMedia, (p) => overwrite(p, 3, byte(p[3]! | 0xc0)))),
      hostile("counters that stand still", () => each(isMedia, (p) => overwrite(p, 3, byte(p[3]! & 0xf0)))),
      hostileFirst("times that wrap in the middle", () => times((ticks) => 2n ** 33n - 18_000n + ticks)),
      hostile("times that jump by 13 hours", () => times((ticks, n) => ticks + BigInt(n % 2) * 2n ** 32n)),
      hostile("times that go back", () => times((ticks) => 900_000n - ticks)),
      hostile("times that stand still", () => times(() => 90_000n)),
      hostile("times a day apart at the end", () => times((ticks, n) => (n > 15 ? 90_000n * 86_000n : ticks))),
      hostile("clock that jumps", (random) =>
        each(isMedia, (p) => ((p[3]! & 0x20) > 0 && p[4]! > 6 ? overwrite(p, 6, random.bytes(6)) : p)),
      ),
      hostile("frames of random lengths", (random) =>
        each(
          (at) => isMedia(at) && (ts[at + 1]! & 0x40) > 0,
          (p) => overwrite(p, 8 + ((p[3]! & 0x20) > 0 ? 1 + p[4]! : 0), random.bytes(2)),
        ),
      ),
      hostile("frame header of 255 bytes", () =>
        each(
          (at) => isMedia(at) && (ts[at + 1]! & 0x40) > 0,
          (p) => overwrite(p, 12 + ((p[3]! & 0x20) > 0 ? 1 + p[4]! : 0), byte(255)),
        ),
      ),
      hostile("packets of 192 bytes", () =>
        concat(...packets.map(({ start, end }, n) => concat(uintBE(n, 4), ts.slice(start, end)))),
      ),
      hostile("packets of 204 bytes", () =>
        concat(...packets.map(({ start, end }) => concat(ts.slice(start, end), zeros(16)))),
      ),
      hostile("a byte too many after every tenth packet", () =>
        concat(...packets.map(({ start, end }, n) => concat(ts.slice(start, end), zeros(n % 10 === 9 ? 1 : 0)))),
      ),
      hostile("20,000 empty packets", () =>
        concat(
          ts,
          repeat(20_000, () => concat(byte(0x47, 0x1f, 0xff, 0x10), zeros(184))),
        ),
      ),
      hostile("service names that name files", () =>
        concat(
          ts,
          ...targets.map((path) =>
            section(
              0x11,
              0x42,
              concat(
                uintBE(1, 2),
                byte(255),
                uintBE(1, 2),
                byte(0xfc, 0x80, 60, 0x48, 58, 1, 0, 55),
                text(path.slice(-55)),
              ),
            ),
          ),
        ),
      ),
      hostile("tables only", () =>
        concat(
          repeat(200, () =>
            concat(...packets.filter(({ start }) => !isMedia(start)).map(({ start, end }) => ts.slice(start, end))),
          ),
        ),
      ),
      hostile("stream inside a stream", () => splice(ts, PACKET_BYTES * 20 + 50, PACKET_BYTES * 20 + 50, ts)),
    ],
  };
}
