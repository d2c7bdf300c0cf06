import { describe, expect, test } from "bun:test";
import { formatConcatList, planCheckWindows } from "../../../../src/media/smart/splice-check";

describe("check windows", () => {
  const segments = [
    { kind: "copy", from: 0, to: 100, firstPacket: 0, endPacket: 100 },
    { kind: "encode", from: 200, to: 220 },
    { kind: "copy", from: 220, to: 300, firstPacket: 220, endPacket: 300 },
  ] as const;

  test("extend from a random access point to shortly after the splice", () => {
    const windows = planCheckWindows(segments, (frame) => Math.floor(frame / 50) * 50);
    expect(windows).toEqual([{ from: 50, to: 132 }]);
    expect(planCheckWindows(segments.slice(0, 1), () => 0)).toEqual([]);
  });

  test("for many splices of one kind are short, spread over the output, and limited to a share of it", () => {
    const copies = Array.from({ length: 600 }, (_, n) => {
      const [from, to] = [n * 300, n * 300 + 100 + (n % 10 === 3 ? 5 : 30)];
      return { kind: "copy", from, to, firstPacket: from, endPacket: to } as const;
    });
    const windows = planCheckWindows(copies, (frame) => frame - (frame % 100));
    expect(windows).toHaveLength(6);
    // A tenth of them end 5 frames after a random access point instead of 30.
    for (const { from, to } of windows) expect(to - from).toBe(5 + 12);
    const length = copies.reduce((sum, { from, to }) => sum + to - from, 0);
    expect(windows[0]!.to).toBeLessThan(length / 6);
    expect(windows[5]!.from).toBeGreaterThan((length * 5) / 6);
    expect(planCheckWindows(copies.slice(0, 12), () => 0).length).toBeLessThan(4);
  });

  test("are fewer between segments that an earlier render has checked", () => {
    const many = Array.from({ length: 200 }, (_, n) => [
      { kind: "encode", from: n * 300, to: n * 300 + 10 } as const,
      {
        kind: "copy",
        from: n * 300 + 10,
        to: n * 300 + 300,
        firstPacket: n * 300 + 10,
        endPacket: n * 300 + 300,
      } as const,
    ]).flat();
    const findStart = (frame: number) => frame - (frame % 100);
    expect(planCheckWindows(many, findStart).length).toBeGreaterThan(4);
    // One between a copied and a known segment, and one the other way round, which may overlap.
    expect(planCheckWindows(many, findStart, () => true).length).toBeLessThanOrEqual(2);
    const isNew = ({ from }: { from: number }) => from === 3_000;
    const windows = planCheckWindows(many, findStart, (segment) => !isNew(segment));
    // Both splices of the new segment are checked.
    const covers = (frame: number) => windows.some(({ from, to }) => from < frame && to > frame);
    expect([covers(3_000), covers(3_010)]).toEqual([true, true]);
    expect(windows.length).toBeLessThanOrEqual(4);
  });

  test("start at the splice when the random access point is too far before it", () => {
    const long = [
      { kind: "copy", from: 0, to: 9_000, firstPacket: 0, endPacket: 9_000 },
      { kind: "encode", from: 9_100, to: 9_150 },
    ] as const;
    expect(planCheckWindows(long, () => 0)).toEqual([{ from: 9_000, to: 9_012 }]);
  });

  test("are listed with quotes in the path escaped", () => {
    const times = Float64Array.from({ length: 201 }, (_, n) => n / 25);
    expect(formatConcatList("/a'b.mp4", [{ from: 50, to: 100 }], times)).toBe(
      "ffconcat version 1.0\nfile '/a'\\''b.mp4'\ninpoint 2.000000\noutpoint 4.000000\n",
    );
  });
});
