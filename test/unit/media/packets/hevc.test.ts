import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { EncodedPacketSink } from "mediabunny";
import { parseNalUnits } from "../../../../src/media/packets/bitstream";
import {
  buildHevcConfig,
  changesParameterSets,
  convertCraToBla,
  findFreeParameterSetIds,
  getNalType,
  type HevcConfig,
  isRandomAccessPoint,
  isReferenceNal,
  mergeHevcConfigs,
  parseHevcConfig,
  renumberNalUnit,
  renumberParameterSets,
} from "../../../../src/media/packets/hevc";
import { openVideoTrack, readFileConfig } from "../../../../src/media/packets/video-track";
import { generate, videoInput } from "../generated-media";

const video = () =>
  generate(
    "hevc-small.mp4",
    ...[...videoInput("25", 3), "-c:v", "libx265", "-preset", "ultrafast", "-tag:v", "hvc1"],
    ...["-x265-params", "log-level=error:keyint=25:min-keyint=25:bframes=3"],
  );

const real = async () => parseHevcConfig((await readFileConfig(await video())).description);

const packets = async () => {
  using file = await openVideoTrack(await video());
  const all = await Array.fromAsync(new EncodedPacketSink(file.track).packets());
  return all.map(({ data, type }) => ({ type, units: parseNalUnits(data, 4) }));
};

const IDS = { vps: 3, sps: 7, pps: 19 };

describe("hvcC", () => {
  test("x265's record survives parsing and building", async () => {
    const config = await real();
    expect(config).toMatchObject({ lengthSize: 4 });
    expect([config.vps, config.sps, config.pps].map((sets) => sets.length)).toEqual([1, 1, 1]);
    expect(parseHevcConfig(buildHevcConfig(config))).toEqual(config);
  });

  test("renumbered sets differ and can be merged; sets with the same ids are rejected", async () => {
    const source = await real();
    expect(findFreeParameterSetIds(source)).toEqual({ vps: 1, sps: 1, pps: 15 });
    const other = renumberParameterSets(source, IDS);
    const both = mergeHevcConfigs(source, other);
    expect([both.vps, both.sps, both.pps].map((sets) => sets.length)).toEqual([2, 2, 2]);
    expect(parseHevcConfig(buildHevcConfig(both))).toEqual(both);
    expect(findFreeParameterSetIds(other)).toEqual({ vps: 1, sps: 1, pps: 15 });
    expect(() => mergeHevcConfigs(source, source)).toThrow("id of the source");
    expect(() => renumberParameterSets(other, IDS)).toThrow("do not have id 0");
    expect(() => renumberParameterSets(both, IDS)).toThrow("several parameter sets");
  });

  test("no ids are free when all are taken", async () => {
    const source = await real();
    const all: HevcConfig = { ...source, sps: [], pps: [] };
    for (let id = 0; id < 16; id++) {
      const { sps, pps } = id === 0 ? source : renumberParameterSets(source, { vps: 1, sps: id, pps: 14 + id });
      all.sps.push(...sps);
      all.pps.push(...pps);
    }
    expect(findFreeParameterSetIds(all)).toBeNull();
    expect(findFreeParameterSetIds({ ...all, sps: source.sps })).toMatchObject({ sps: 1, pps: 30 });
  });

  test("another profile is rejected", async () => {
    const source = await real();
    const other = { ...renumberParameterSets(source, IDS), header: source.header.with(1, 2) };
    expect(() => mergeHevcConfigs(source, other)).toThrow("profile");
  });

  test("damaged records are plain errors", async () => {
    const good = [...buildHevcConfig(await real())];
    const damage = fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 0, max: 255 }), fc.nat(good.length));
    fc.assert(
      fc.property(damage, ([at, value, length]) => {
        const bytes = Uint8Array.from(good.with(at, value).slice(0, length));
        try {
          const config = parseHevcConfig(bytes);
          expect(config.lengthSize).toBeWithin(1, 5);
          findFreeParameterSetIds(config);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          expect(error).not.toBeInstanceOf(RangeError);
        }
      }),
    );
  });
});

describe("slices", () => {
  test("refer to a renumbered set, and grow by one byte and emulation prevention bytes", async () => {
    for (const { units } of await packets())
      for (const unit of units) {
        const changed = renumberNalUnit(unit, IDS);
        expect(getNalType(changed)).toBe(getNalType(unit));
        expect(changed.length - unit.length).toBeWithin(1, 4);
        // The bytes after the slice header are the same.
        expect(changed.subarray(-20)).toEqual(unit.subarray(-20));
        expect(() => renumberNalUnit(changed, IDS)).toThrow("other than 0");
      }
  });

  test("of a CRA picture become BLA_N_LP", async () => {
    const keys = (await packets()).filter(({ type }) => type === "key");
    expect(keys.map(({ units }) => isRandomAccessPoint(units))).toEqual([true, true, true]);
    const types = (units: readonly Uint8Array[]) => units.map(getNalType).filter((type) => type < 32);
    expect(keys.map(({ units }) => types(units))).toEqual([[20], [21], [21]]);
    expect(keys.map(({ units }) => types(convertCraToBla(units)))).toEqual([[20], [18], [18]]);
  });

  test("of non-reference pictures are recognized, except with temporal sublayers", async () => {
    const config = await real();
    const all = (await packets()).flatMap(({ units }) => units).filter((unit) => getNalType(unit) < 32);
    const reference = all.filter((unit) => isReferenceNal(unit, config)).length;
    expect(reference).toBeGreaterThan(10);
    expect(reference).toBeLessThan(all.length);
    const withSublayers = { ...config, sps: config.sps.map((sps) => sps.with(2, sps[2]! | 2)) };
    expect(all.every((unit) => isReferenceNal(unit, withSublayers))).toBe(true);
  });

  test("with in-band parameter sets: known ones and others", async () => {
    const config = await real();
    const { units } = (await packets())[0]!;
    expect(changesParameterSets([...config.vps, ...config.sps, ...config.pps, ...units], config)).toBe(false);
    expect(changesParameterSets(renumberParameterSets(config, IDS).pps, config)).toBe(true);
  });
});
