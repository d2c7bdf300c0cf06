import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { buildPacket, parseNalUnits } from "../../../../src/media/packets/bitstream";
import {
  type AvcConfig,
  buildAvcConfig,
  changesParameterSets,
  findFreeParameterSetId,
  mergeAvcConfigs,
  parseAvcConfig,
  parseSpsId,
} from "../../../../src/media/packets/h264";
import { readFileConfig } from "../../../../src/media/packets/video-track";
import { plainMp4 } from "../generated-media";

const real = async () => parseAvcConfig((await readFileConfig(await plainMp4())).description);

/** A sequence parameter set with only an id. */
const sps = (id: number): Uint8Array => Uint8Array.from([0x67, 100, 0, 30, ...golomb(id)]);
const pps = (id: number): Uint8Array => Uint8Array.from([0x68, ...golomb(id)]);

function golomb(value: number): number[] {
  const digits = (value + 1).toString(2);
  const bits = `${"0".repeat(digits.length - 1)}${digits}`.padEnd(16, "1");
  return [Number.parseInt(bits.slice(0, 8), 2), Number.parseInt(bits.slice(8, 16), 2)];
}

describe("avcC", () => {
  test("x264's record survives parsing and building", async () => {
    const config = await real();
    expect(config).toMatchObject({ profile: 100, lengthSize: 4 });
    expect(config.sps.map(parseSpsId)).toEqual([0]);
    expect(parseAvcConfig(buildAvcConfig(config))).toEqual(config);
  });

  test("ids from 0 to 31 are parsed, and a free one is found", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 0, max: 31 }), { minLength: 1, maxLength: 31 }), (ids) => {
        expect(ids.map((id) => parseSpsId(sps(id)))).toEqual(ids);
        const config: AvcConfig = {
          profile: 100,
          compatibility: 0,
          level: 30,
          lengthSize: 4,
          extensions: new Uint8Array(0),
          sps: ids.map(sps),
          pps: [pps(7)],
        };
        const free = findFreeParameterSetId(config);
        if (free === null) expect(new Set([...ids, 7]).size).toBeGreaterThanOrEqual(31);
        else expect([...ids, 7, 0]).not.toContain(free);
      }),
    );
  });

  test("two records are merged; a duplicate id is rejected", async () => {
    const source = await real();
    const encoder = { ...source, level: 40, sps: [sps(1)], pps: [pps(1)] };
    const merged = mergeAvcConfigs(source, encoder);
    expect(merged).toMatchObject({ level: 40, sps: [source.sps[0], sps(1)], pps: [source.pps[0], pps(1)] });
    expect(() => mergeAvcConfigs(source, source)).toThrow();
    expect(() => mergeAvcConfigs({ ...source, profile: 77 }, encoder)).toThrow("profile");
  });

  test("damaged records are plain errors", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          expect(parseAvcConfig(bytes).lengthSize).toBeWithin(1, 5);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
    );
  });
});

describe("packets", () => {
  const units = [Uint8Array.from([0x65, 1, 2, 3]), Uint8Array.from([0x41, 9])];

  test.each([1, 2, 4])("lengths of %p bytes become four", (lengthSize) => {
    const packet = units.flatMap((unit) => [...Array(lengthSize - 1).fill(0), unit.length, ...unit]);
    const long = buildPacket(parseNalUnits(Uint8Array.from(packet), lengthSize));
    expect(parseNalUnits(long, 4)).toEqual(units);
    expect(long).toHaveLength(14);
  });

  test("a NAL unit that extends beyond its packet is an error", () => {
    expect(() => parseNalUnits(Uint8Array.from([0, 0, 0, 9, 1]), 4)).toThrow();
  });

  test("in-band copies of the source's parameter sets are no change, others are", async () => {
    const config = await real();
    expect(changesParameterSets([config.sps[0]!, config.pps[0]!, units[0]!], config)).toBe(false);
    expect(changesParameterSets([sps(0)], config)).toBe(true);
    expect(changesParameterSets([pps(3)], config)).toBe(true);
  });
});
