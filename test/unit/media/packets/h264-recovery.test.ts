import { describe, expect, test } from "bun:test";
import { EncodedPacketSink } from "mediabunny";
import { parseNalUnits } from "../../../../src/media/packets/bitstream";
import { getNalType, NAL_IDR, parseAvcConfig } from "../../../../src/media/packets/h264";
import { createPictureReader, parseSequenceFacts } from "../../../../src/media/packets/h264-pictures";
import { createRecoveryRewriter } from "../../../../src/media/packets/h264-recovery";
import { iteratePackets, readTrackConfig, withVideoTrack } from "../../../../src/media/packets/video-track";
import { generate, h264, videoInput } from "../generated-media";

const makeSource = () =>
  generate("recovery.mp4", ...videoInput("25", 4), ...h264(25, "-bf", "3", "-x264-params", "open-gop=1"));

type Packet = { units: Uint8Array[]; timestamp: number };

async function readSource() {
  return await withVideoTrack(await makeSource(), async (track) => {
    const config = parseAvcConfig((await readTrackConfig(track)).description);
    const packets: Packet[] = [];
    const keys: number[] = [];
    for await (const { data, timestamp, type } of iteratePackets(new EncodedPacketSink(track))) {
      if (type === "key") keys.push(packets.length);
      packets.push({ units: parseNalUnits(data, config.lengthSize), timestamp });
    }
    return { config, packets, keys };
  });
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
