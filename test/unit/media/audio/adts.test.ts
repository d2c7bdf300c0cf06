import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { parseAdtsConfig, parseAdtsPackets, readAdts } from "../../../../src/media/audio/adts";
import { generate } from "../generated-media";

setDefaultTimeout(120_000);

const oneSecond = async () => {
  const path = await generate("one-second.aac", "-f", "lavfi", "-i", "sine=r=44100:d=1", "-c:a", "aac");
  return await Bun.file(path).bytes();
};

async function* inBlocks(bytes: Uint8Array, size: number) {
  for (let n = 0; n < bytes.length; n += size) yield bytes.slice(n, n + size);
}

describe("an ADTS stream", () => {
  test("that is truncated is rejected", async () => {
    const stream = await oneSecond();
    expect(parseAdtsPackets(stream)).toHaveLength(45);
    // AAC-LC, 44.1 kHz, mono.
    expect([...parseAdtsConfig(stream)]).toEqual([0x12, 0x08]);
    expect(() => parseAdtsPackets(stream.subarray(0, stream.length - 3))).toThrow("damaged");
    expect(() => parseAdtsPackets(stream.subarray(3))).toThrow("damaged");
  });

  test("yields the same packets for any block sizes", async () => {
    const stream = await oneSecond();
    const expected = parseAdtsPackets(stream);
    for (const size of [1, 6, 7, 250, 4_096, 1 << 20]) {
      const packets: Uint8Array[] = [];
      for await (const more of readAdts(inBlocks(stream, size))) {
        expect([...more.config]).toEqual([0x12, 0x08]);
        packets.push(...more.packets);
      }
      expect(packets).toEqual(expected);
    }
  });

  test("that is truncated or damaged is rejected after its valid packets", async () => {
    const stream = await oneSecond();
    const read = async (bytes: Uint8Array) => {
      let count = 0;
      for await (const { packets } of readAdts(inBlocks(bytes, 100))) count += packets.length;
      return count;
    };
    await expect(read(stream.subarray(0, stream.length - 3))).rejects.toThrow("truncated");
    await expect(read(stream.subarray(3))).rejects.toThrow("damaged");
    const broken = stream.slice();
    broken[stream.length - getLastPacketBytes(stream)] = 0;
    await expect(read(broken)).rejects.toThrow("damaged");
  });
});

/** Length of the last packet with its header. */
const getLastPacketBytes = (stream: Uint8Array) => parseAdtsPackets(stream).at(-1)!.length + 7;
