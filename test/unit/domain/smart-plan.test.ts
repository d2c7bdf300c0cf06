import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  getRandomAccessFrame,
  MIN_COPY_FRAMES,
  measureReorderDepth,
  type PacketOrder,
  planDecodeRange,
  planSpliceSegments,
} from "../../../src/domain/smart-plan";

/**
 * Packets of random GOPs: a random access point, then references, each followed by the B-frames that precede it in
 * display order.
 */
const orders = fc
  .array(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 20 }), { minLength: 1, maxLength: 30 })
  .map((groups): PacketOrder => {
    const frames: number[] = [];
    const starts: number[] = [];
    let shown = 0;
    for (const runs of groups) {
      starts.push(frames.length);
      frames.push(shown++);
      for (const between of runs) {
        frames.push(shown + between);
        for (let n = 0; n < between; n++) frames.push(shown + n);
        shown += between + 1;
      }
    }
    return { frames: Int32Array.from(frames), randomAccessPoints: Int32Array.from(starts) };
  });

describe("planning copies", () => {
  test("segments cover the whole range, and copies have exactly their frames and start at a random access point", () => {
    fc.assert(
      fc.property(orders, fc.nat(), fc.nat(), (order, a, b) => {
        const count = order.frames.length;
        const from = a % count;
        const to = from + 1 + (b % (count - from));
        let at = from;
        for (const piece of planSpliceSegments({ from, to }, order)) {
          expect(piece.from).toBe(at);
          expect(piece.to).toBeGreaterThan(piece.from);
          at = piece.to;
          if (piece.kind === "encode") continue;
          const copied = [...order.frames.slice(piece.firstPacket, piece.endPacket)].filter(
            (frame) => frame >= piece.from,
          );
          expect(copied.sort((x, y) => x - y)).toEqual(
            Array.from({ length: piece.to - piece.from }, (_, n) => piece.from + n),
          );
          expect(order.randomAccessPoints).toContain(piece.firstPacket);
          expect(piece.to - piece.from).toBeGreaterThanOrEqual(MIN_COPY_FRAMES);
        }
        expect(at).toBe(to);
      }),
    );
  });

  test("the decode range of a range starts at a random access point and contains every frame", () => {
    fc.assert(
      fc.property(orders, fc.nat(), fc.nat(), (order, a, b) => {
        const count = order.frames.length;
        const from = a % count;
        const to = from + 1 + (b % (count - from));
        const needed = planDecodeRange({ from, to }, order);
        expect(order.randomAccessPoints).toContain(needed.from);
        expect(order.frames[needed.from]!).toBe(getRandomAccessFrame(from, order));
        const begins = Array.from(order.randomAccessPoints, (start) => order.frames[start]!);
        expect(getRandomAccessFrame(from, order)).toBe(begins.findLast((frame) => frame <= from)!);
        const frames = new Set(order.frames.slice(needed.from, needed.to));
        for (let frame = from; frame < to; frame++) expect(frames.has(frame)).toBe(true);
        expect(order.frames[needed.to - 1]!).toBeWithin(from, to);
      }),
    );
  });

  test("nothing is copied without a random access point, or with too few frames after it", () => {
    const order = {
      frames: Int32Array.from({ length: 100 }, (_, n) => n),
      randomAccessPoints: Int32Array.from([0, 50]),
    };
    expect(planSpliceSegments({ from: 1, to: 50 }, order)).toEqual([{ kind: "encode", from: 1, to: 50 }]);
    expect(planSpliceSegments({ from: 40, to: 57 }, order)).toEqual([{ kind: "encode", from: 40, to: 57 }]);
    expect(planSpliceSegments({ from: 40, to: 58 }, order)).toEqual([
      { kind: "encode", from: 40, to: 50 },
      { kind: "copy", from: 50, to: 58, firstPacket: 50, endPacket: 58 },
    ]);
    expect(planSpliceSegments({ from: 0, to: 100 }, order)).toEqual([
      { kind: "copy", from: 0, to: 100, firstPacket: 0, endPacket: 100 },
    ]);
  });

  test("a range that ends between a reference frame and its B-frames leaves them to the encoder", () => {
    const order = {
      frames: Int32Array.from([0, 3, 1, 2, 6, 4, 5, 9, 7, 8, 12, 10, 11]),
      randomAccessPoints: Int32Array.from([0]),
    };
    expect(planSpliceSegments({ from: 0, to: 12 }, order)).toEqual([
      { kind: "copy", from: 0, to: 10, firstPacket: 0, endPacket: 10 },
      { kind: "encode", from: 10, to: 12 },
    ]);
  });

  test.each([
    [[0, 1, 2, 3], 0],
    [[0, 2, 1, 4, 3], 1],
    [[0, 4, 2, 1, 3, 8, 6, 5, 7], 2],
  ])("the frames %p have the reorder depth %p", (frames, depth) => {
    expect(measureReorderDepth(Int32Array.from(frames))).toBe(depth);
  });
});
