import { describe, expect, test } from "bun:test";
import { EncodedPacketSink } from "mediabunny";
import { formatExpGolomb as ue } from "../../../../src/media/packets/bits";
import { parseNalUnits } from "../../../../src/media/packets/bitstream";
import { getNalType, NAL_IDR, parseAvcConfig } from "../../../../src/media/packets/h264";
import { createPictureReader, parseSequenceFacts } from "../../../../src/media/packets/h264-pictures";
import { createRecoveryRewriter } from "../../../../src/media/packets/h264-recovery";
import { iteratePackets, openVideoTrack, readTrackConfig } from "../../../../src/media/packets/video-track";
import { generate, h264, videoInput } from "../generated-media";

const makeSource = () =>
  generate("recovery.mp4", ...videoInput("25", 4), ...h264(25, "-bf", "3", "-x264-params", "open-gop=1"));

type Packet = { units: Uint8Array[]; timestamp: number };

async function readSource() {
  using file = await openVideoTrack(await makeSource());
  const config = parseAvcConfig((await readTrackConfig(file.track)).description);
  const packets: Packet[] = [];
  const keys: number[] = [];
  for await (const { data, timestamp, type } of iteratePackets(new EncodedPacketSink(file.track))) {
    if (type === "key") keys.push(packets.length);
    packets.push({ units: parseNalUnits(data, config.lengthSize), timestamp });
  }
  return { config, packets, keys };
}

/** Rewrites the packets from `from` on without its leading pictures. Returns those that are kept. */
function rewrite(config: Awaited<ReturnType<typeof readSource>>["config"], packets: readonly Packet[], from: number) {
  const rewriter = createRecoveryRewriter(config, packets[from]!.units);
  if (rewriter === null) return null;
  const first = packets[from]!.timestamp;
  return packets.slice(from).flatMap((packet) => {
    if (packet.timestamp >= first) return [{ ...packet, units: rewriter.rewrite(packet.units) }];
    rewriter.drop(packet.units);
    return [];
  });
}

/** Returns a NAL unit of a header byte and bits, filled with ones. */
const toNal = (header: number, bits: string, data: number[] = []): Uint8Array =>
  Uint8Array.from([
    header,
    ...(bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, "1"), 2)),
    ...data,
  ]);

/**
 * Three references, and frame numbers and orders of four bits. By default, list 0 has two pictures and list 1 has one.
 */
const SMALL_CONFIG = {
  lengthSize: 4,
  sps: [toNal(0x67, `${"01001101"}${"00000000"}${"00011110"}${ue(0).repeat(4)}${ue(3)}0${ue(0)}${ue(0)}11001`)],
  pps: [toNal(0x68, `${ue(0)}${ue(0)}10${ue(0)}${ue(1)}${ue(0)}000${ue(0).repeat(3)}0001`)],
} as ReturnType<typeof parseAvcConfig>;

type SmallSlice = {
  kind: "P" | "B" | "I";
  number: number;
  order: number;
  count?: number;
  removed?: number;
  isShownOnly?: boolean;
};

/**
 * Returns a picture of one slice. `count`: references of list 0. `removed`: the difference to the frame that it
 * removes.
 */
function toPicture({ kind, number, order, count, removed, isShownOnly = false }: SmallSlice): Uint8Array[] {
  const four = (value: number) => value.toString(2).padStart(4, "0");
  const counts = kind === "I" ? "" : count === undefined ? "0" : `1${ue(count - 1)}${kind === "B" ? ue(0) : ""}`;
  const lists = { I: "", P: "0", B: "00" }[kind];
  const removal = removed === undefined ? "0" : `1${ue(1)}${ue(removed - 1)}${ue(0)}`;
  const rest = `${isShownOnly ? "" : removal}${kind === "I" ? "" : ue(0)}${ue(0)}`;
  const start = `${ue(0)}${ue(["P", "B", "I"].indexOf(kind))}${ue(0)}${four(number)}${four(order)}`;
  return [toNal(isShownOnly ? 0x01 : 0x61, `${start}${kind === "B" ? "1" : ""}${counts}${lists}${rest}`, [7, 7, 7, 7])];
}

describe("a copy from an intra picture of an open GOP", () => {
  test("starts with an IDR picture, and has consecutive pictures in the same order", async () => {
    const { config, packets, keys } = await readSource();
    const facts = parseSequenceFacts(config.sps[0]!)!;
    expect(keys.length).toBeGreaterThan(2);
    for (const from of keys.slice(1)) {
      expect(packets[from]!.units.some((nal) => getNalType(nal) === NAL_IDR)).toBe(false);
      const written = rewrite(config, packets, from)!;
      const readPicture = createPictureReader(facts);
      const shown = written.map(({ units, timestamp }) => ({ ...readPicture(units), timestamp }));
      expect(shown.map(({ isIdr }) => isIdr)).toEqual(shown.map((_, n) => n === 0));
      expect(shown[0]!.order).toBe(0);
      const inOrder = shown.toSorted((a, b) => a.order - b.order);
      expect(inOrder).toEqual(shown.toSorted((a, b) => a.timestamp - b.timestamp));
      // Two for each frame, as in the source: no frame is missing.
      inOrder.forEach(({ order }, n) => void expect(order).toBe(2 * n));
    }
  });

  test("needs an intra picture", async () => {
    const { config, packets, keys } = await readSource();
    const other = packets.findIndex((_, n) => n > 0 && !keys.includes(n));
    expect(createRecoveryRewriter(config, packets[other]!.units)).toBeNull();
    expect(createRecoveryRewriter({ ...config, pps: [] }, packets[keys[1]!]!.units)).toBeNull();
    expect(createRecoveryRewriter({ ...config, sps: [] }, packets[keys[1]!]!.units)).toBeNull();
    expect(createRecoveryRewriter(config, [])).toBeNull();
  });

  test("is refused when a picture refers to an earlier one", async () => {
    const { config, packets, keys } = await readSource();
    const from = keys[1]!;
    const first = packets[from]!.timestamp;
    const rewriter = createRecoveryRewriter(config, packets[from]!.units)!;
    rewriter.rewrite(packets[from]!.units);
    const leading = packets.slice(from + 1).find(({ timestamp }) => timestamp < first)!;
    expect(() => rewriter.rewrite(leading.units)).toThrow("before the intra picture");
  });

  test("is refused while an explicit removal may have left a picture before the intra picture", () => {
    const intra = toPicture({ kind: "I", number: 3, order: 0 });
    const open = (pictures: SmallSlice[]) => {
      const rewriter = createRecoveryRewriter(SMALL_CONFIG, intra)!;
      rewriter.rewrite(intra);
      for (const picture of pictures) rewriter.rewrite(toPicture(picture));
      return rewriter;
    };
    const middle: SmallSlice = { kind: "P", number: 4, order: 2, count: 1 };
    const between: SmallSlice = { kind: "B", number: 6, order: 3, isShownOnly: true };
    // Three references, the maximum: list 0 has the two before the picture.
    const full = open([middle, { kind: "P", number: 5, order: 6 }]);
    expect(full.rewrite(toPicture(between))).toHaveLength(1);
    // The one in the middle is removed instead of an earlier one, which is the second of list 0.
    const removing = open([middle, { kind: "P", number: 5, order: 6, removed: 1 }]);
    expect(() => removing.rewrite(toPicture(between))).toThrow("before the intra picture");
  });

  test("of damaged packets ends with an error or with packets", async () => {
    const { config, packets, keys } = await readSource();
    let state = 5;
    const random = (count: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * count);
    };
    const outcomes = { error: 0, packets: 0 };
    for (let n = 0; n < 300; n++) {
      const from = keys[1 + random(keys.length - 1)]!;
      const damaged = packets.slice(0, from + 12).map((packet, at) => {
        if (at < from || random(3) > 0) return packet;
        const units = packet.units.map((unit) => {
          const changed = unit.slice(0, random(2) === 0 ? unit.length : 1 + random(20));
          changed[random(Math.min(12, changed.length))] = random(256);
          return changed;
        });
        return { ...packet, units };
      });
      try {
        rewrite(config, damaged, from);
        outcomes.packets++;
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
        expect(error).not.toBeInstanceOf(TypeError);
        expect(error).not.toBeInstanceOf(RangeError);
        outcomes.error++;
      }
    }
    expect(outcomes.error).toBeGreaterThan(50);
    expect(outcomes.packets).toBeGreaterThan(50);
  });
});
