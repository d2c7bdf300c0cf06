import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Range } from "../../../web/editor/model/plan";
import {
  clipToRange,
  findDifference,
  findPieceIndex,
  getLength,
  PIECE_GRID,
  type Piece,
  snapToFrames,
  splitPiece,
  toCutTime,
  toLanding,
  toPieces,
  toSourceTime,
} from "../../../web/editor/player/timeline";

const SECOND = 1_000_000;

/** Sorted, disjoint spans. */
const spans: fc.Arbitrary<Range[]> = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 1, max: 5 * SECOND }),
      length: fc.integer({ min: 100_000, max: 30 * SECOND }),
    }),
    {
      maxLength: 20,
    },
  )
  .map((shapes) => {
    let time = 0;
    return shapes.map(({ gap, length }) => {
      const start = time + gap;
      time = start + length;
      return { start, end: time };
    });
  });
const filled = spans.filter((kept) => kept.length > 0);
const share = fc.double({ min: 0, max: 1, noNaN: true });
const lengthOf = (kept: readonly Range[]) => kept.reduce((sum, { start, end }) => sum + end - start, 0);

describe("pieces", () => {
  test("tile the cut and the kept spans, and end on the grid", () => {
    fc.assert(
      fc.property(spans, (kept) => {
        const pieces = toPieces(kept);
        let at = 0;
        for (const piece of pieces) {
          expect(piece.at).toBe(at);
          expect(piece.end).toBeGreaterThan(piece.start);
          expect(piece.end - piece.start).toBeLessThan(PIECE_GRID + 2 * SECOND);
          const isSpanEnd = kept.some(({ end }) => end === piece.end);
          if (!isSpanEnd) expect(piece.end % PIECE_GRID).toBe(0);
          at += piece.end - piece.start;
        }
        expect(at).toBe(lengthOf(kept));
        expect(getLength(pieces)).toBe(at);
        expect(mergeTouching(pieces)).toEqual(mergeTouching(kept));
      }),
    );
  });

  test("end at keyframes where these are given", () => {
    const lines = [6, 14.5, 15, 30].map((time) => time * SECOND);
    const kept = [
      { start: 0, end: 16 * SECOND },
      { start: 20 * SECOND, end: 40 * SECOND },
    ];
    const edges = toPieces(kept, lines).map(({ start, end }) => [start / SECOND, end / SECOND]);
    expect(edges).toEqual([
      [0, 6],
      [6, 14.5],
      [14.5, 16],
      [20, 30],
      [30, 40],
    ]);
    fc.assert(
      fc.property(spans, (kept) => {
        const pieces = toPieces(kept, lines);
        expect(getLength(pieces)).toBe(lengthOf(kept));
        expect(mergeTouching(pieces)).toEqual(mergeTouching(kept));
      }),
    );
  });

  test("no span becomes a crumb at a line of the grid", () => {
    const lengths = toPieces([{ start: 7.5 * SECOND, end: 16_400_000 }]).map(({ start, end }) => end - start);
    expect(lengths).toEqual([8_900_000]);
  });

  test("stay the same after an edit elsewhere", () => {
    const kept = [{ start: 0, end: 60 * SECOND }];
    const edited = [
      { start: 0, end: 20 * SECOND },
      { start: 21 * SECOND, end: 60 * SECOND },
    ];
    const names = toPieces(kept).map(({ start, end }) => `${start}-${end}`);
    const again = toPieces(edited).filter(({ start, end }) => names.includes(`${start}-${end}`));
    expect(again.length).toBe(names.length - 1);
  });
});

describe("cut time and source time", () => {
  test("a kept source time goes there and back", () => {
    fc.assert(
      fc.property(filled, share, (kept, where) => {
        const pieces = toPieces(kept);
        const cutTime = Math.floor(where * (getLength(pieces) - 1));
        const sourceTime = toSourceTime(pieces, cutTime);
        expect(kept.some(({ start, end }) => start <= sourceTime && sourceTime < end)).toBe(true);
        expect(toCutTime(pieces, sourceTime)).toBe(cutTime);
        const piece = pieces[findPieceIndex(pieces, cutTime)]!;
        expect(piece.at <= cutTime && cutTime < piece.at + piece.end - piece.start).toBe(true);
      }),
    );
  });

  test("a removed source time goes to the next kept span", () => {
    const pieces = toPieces([
      { start: SECOND, end: 2 * SECOND },
      { start: 5 * SECOND, end: 6 * SECOND },
    ]);
    expect(toCutTime(pieces, 0)).toBe(0);
    expect(toCutTime(pieces, 3 * SECOND)).toBe(SECOND);
    expect(toCutTime(pieces, 9 * SECOND)).toBe(2 * SECOND);
  });

  test("an empty cut has no length", () => {
    expect(getLength([])).toBe(0);
    expect(toSourceTime([], 5)).toBe(0);
    expect(toCutTime([], 5)).toBe(0);
  });
});

describe("difference of two cuts", () => {
  test("both play the same before it, and not at it", () => {
    fc.assert(
      fc.property(spans, spans, share, (first, second, where) => {
        // Plans that have a beginning in common.
        const count = Math.floor(where * first.length);
        const limit = first[count - 1]?.end ?? 0;
        const before = toPieces(first);
        const after = toPieces([...first.slice(0, count), ...second.filter(({ start }) => start > limit)]);
        const { at, index, pieces } = findDifference(before, after);
        const end = Math.min(getLength(before), getLength(after));
        expect(at).toBeLessThanOrEqual(end);
        for (const cutTime of [0, Math.floor(at / 2), at - 1])
          if (cutTime >= 0 && cutTime < at) expect(toSourceTime(before, cutTime)).toBe(toSourceTime(after, cutTime));
        if (at < end) expect(toSourceTime(before, at)).not.toBe(toSourceTime(after, at));
        expect(pieces.slice(0, index)).toEqual(before.slice(0, index));
        expect(mergeTouching(pieces)).toEqual(mergeTouching(after));
      }),
    );
  });

  test("equal cuts differ at their end", () => {
    const pieces = toPieces([{ start: 3, end: 20 * SECOND }]);
    expect(findDifference(pieces, pieces)).toEqual({ at: 20 * SECOND - 3, index: pieces.length, pieces });
  });

  test("a longer span differs where the shorter one ended", () => {
    const longer = toPieces([{ start: 0, end: 5 * SECOND }]);
    const divided = splitPiece(longer, 3 * SECOND);
    expect(findDifference(toPieces([{ start: 0, end: 3 * SECOND }]), longer)).toEqual({
      at: 3 * SECOND,
      index: 1,
      pieces: divided,
    });
  });

  test("the same cut in other pieces does not differ, and stays divided", () => {
    fc.assert(
      fc.property(filled, share, share, (kept, first, second) => {
        const pieces = toPieces(kept);
        const divide = (list: readonly Piece[], where: number) => splitPiece(list, Math.floor(where * getLength(list)));
        const divided = divide(divide(pieces, first), second);
        const difference = { at: getLength(pieces), index: divided.length, pieces: divided };
        expect(findDifference(divided, pieces)).toEqual(difference);
        expect(findDifference(divided, divide(pieces, second))).toEqual(difference);
      }),
    );
  });
});

test("a divided piece plays the same", () => {
  fc.assert(
    fc.property(filled, share, (kept, where) => {
      const pieces = toPieces(kept);
      const at = Math.floor(where * getLength(pieces));
      const divided = splitPiece(pieces, at);
      expect(getLength(divided)).toBe(getLength(pieces));
      expect(mergeTouching(divided)).toEqual(mergeTouching(kept));
      if (at > 0 && at < getLength(pieces)) expect(divided.some((piece) => piece.at === at)).toBe(true);
    }),
  );
});

describe("what is loaded first after a jump", () => {
  test("plays the place and what follows it in its piece", () => {
    fc.assert(
      fc.property(filled, share, fc.integer({ min: SECOND, max: 3 * SECOND }), (kept, where, length) => {
        const pieces = toPieces(kept);
        const cutTime = Math.floor(where * (getLength(pieces) - 1));
        const { piece, place, video, audio } = toLanding(pieces, cutTime, length)!;
        expect(piece).toEqual(pieces[findPieceIndex(pieces, cutTime)]!);
        expect(place).toBe(toSourceTime(pieces, cutTime));
        expect(video).toEqual({ ...piece, end: video.end });
        expect(audio).toEqual({ start: place, end: video.end, at: cutTime });
        // All of the piece, or little enough that a large part is left.
        if (video.end < piece.end)
          expect([audio.end - audio.start, piece.end - video.end > 400_000]).toEqual([length, true]);
        else expect(video.end).toBe(piece.end);
      }),
    );
  });

  test("is nothing at the end of the cut, and in an empty one", () => {
    const pieces = toPieces([{ start: 0, end: SECOND }]);
    expect(toLanding(pieces, SECOND, SECOND)).toBeNull();
    expect(toLanding([], 0, SECOND)).toBeNull();
  });
});

describe("snapping to frames", () => {
  test("grows spans by less than a frame, and snaps what is snapped to itself", () => {
    fc.assert(
      fc.property(filled, fc.constantFrom(24, 25, 30_000 / 1001, 60), (kept, rate) => {
        const duration = kept.at(-1)!.end + 40_000;
        const snapped = snapToFrames(kept, rate, duration);
        for (const { start, end } of kept) {
          const around = snapped.find((span) => span.start <= start + 1000 && end <= span.end + 1000);
          expect(around).toBeDefined();
        }
        for (const { start } of snapped)
          expect(kept.some((span) => span.start - start < 1_000_000 / rate && span.start >= start)).toBe(true);
        expect(snapToFrames(snapped, rate, duration)).toEqual(snapped);
      }),
    );
  });

  test("takes a frame's time in milliseconds for that frame", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500_000 }), fc.constantFrom(24, 25, 30_000 / 1001, 60), (frame, rate) => {
        const start = Math.round((frame * 1000) / rate) * 1000;
        const end = Math.round(((frame + 30) * 1000) / rate) * 1000;
        expect(snapToFrames([{ start, end }], rate, end + SECOND)).toEqual([{ start, end }]);
      }),
    );
  });

  test("audio is not snapped", () => {
    expect(snapToFrames([{ start: 5, end: 77 }], null, 100)).toEqual([{ start: 5, end: 77 }]);
  });
});

test("a range of a cut has what both have", () => {
  const kept = [
    { start: 0, end: 4 },
    { start: 6, end: 9 },
  ];
  expect(clipToRange(kept, { start: 3, end: 7 })).toEqual([
    { start: 3, end: 4 },
    { start: 6, end: 7 },
  ]);
  expect(clipToRange(kept, { start: 4, end: 6 })).toEqual([]);
});

function mergeTouching(list: readonly Range[]): Range[] {
  const merged: Range[] = [];
  for (const { start, end } of list) {
    const last = merged.at(-1);
    if (last?.end === start) last.end = end;
    else merged.push({ start, end });
  }
  return merged;
}
