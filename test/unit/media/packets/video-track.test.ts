import { describe, expect, test } from "bun:test";
import { EncodedPacketSink } from "mediabunny";
import {
  computeDisplayRanks,
  countFrames,
  iteratePackets,
  openVideoTrack,
  readTimestamps,
} from "../../../../src/media/packets/video-track";
import { plainMp4 } from "../generated-media";

describe("packets of a track", () => {
  test("are read one by one in decode order, from any packet on", async () => {
    using file = await openVideoTrack(await plainMp4());
    const sink = new EncodedPacketSink(file.track);
    const timestamps = await readTimestamps(sink);
    const expected = await Array.fromAsync(sink.packets());
    expect([...timestamps]).toEqual(expected.map((packet) => packet.timestamp));
    const rest = await Array.fromAsync(iteratePackets(sink, { start: expected[10]! }));
    expect(rest.map(({ data }) => Bun.hash(data))).toEqual(expected.slice(10).map(({ data }) => Bun.hash(data)));
    const ranks = computeDisplayRanks(timestamps);
    expect([...ranks].sort((a, b) => a - b)).toEqual(Array.from(timestamps.keys()));
    for (const [n, rank] of ranks.entries())
      expect(timestamps.filter((timestamp) => timestamp < timestamps[n]!)).toHaveLength(rank);
  });

  test("are counted by the table; a truncated file and other files have none", async () => {
    const path = await plainMp4();
    using file = await openVideoTrack(path);
    const count = (await readTimestamps(new EncodedPacketSink(file.track))).length;
    expect(await countFrames(path)).toBe(count);
    const cut = `${path}.${process.pid}.cut`;
    await Bun.write(cut, (await Bun.file(path).bytes()).subarray(0, -1));
    expect(await countFrames(cut)).toBe(0);
    await Bun.write(cut, "no media");
    expect(await countFrames(cut)).toBe(0);
    await Bun.file(cut).delete();
    expect(await countFrames(cut)).toBe(0);
  });
});
