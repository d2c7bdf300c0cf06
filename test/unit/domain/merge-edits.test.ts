/** Merges of edits of two people. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { applyChanges, countChanges, type Edit, mergeEdits } from "../../../src/domain/merge-edits";

const END = 60;

/** Kept and removed stretches, in turn. Short spans, so that the edits of two people often overlap. */
const kept = fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 14 }).map((lengths) => {
  const spans: { start: number; end: number }[] = [];
  let at = 0;
  for (const [index, length] of lengths.entries()) {
    if (index % 2 === 0 && at + length <= END) spans.push({ start: at, end: at + length });
    at += length;
  }
  return spans;
});
const texts = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 4 }), fc.constantFrom("one", "two")), {
    maxLength: 10,
  })
  .map((shapes) => {
    let at = 0;
    return shapes.map(([gap, length, text]) => {
      const start = at + gap;
      at = start + length;
      return { start, end: at, text };
    });
  });
const edit: fc.Arbitrary<Edit> = fc.record({ kept, texts });

type Span = { start: number; end: number };
const isIn = (spans: readonly Span[], time: number): boolean =>
  spans.some(({ start, end }) => start <= time && time < end);
const textAt = (one: Edit, time: number): string =>
  JSON.stringify(one.texts.find(({ start, end }) => start <= time && time < end) ?? null);
const flatten = (one: Edit): string[] =>
  Array.from({ length: END }, (_, time) => `${isIn(one.kept, time)} ${textAt(one, time)}`);
const times = Array.from({ length: END }, (_, time) => time);

/** Asserts that a merge has the changes of both sides outside of these places. */
function expectBoth(values: (one: Edit, time: number) => unknown, edits: Edit[], merged: Edit, places: Span[]): void {
  const [base, mine, theirs] = edits as [Edit, Edit, Edit];
  for (const time of times) {
    if (isIn(places, time)) continue;
    const before = values(base, time);
    for (const side of [mine, theirs])
      if (values(side, time) !== before) expect(values(merged, time)).toBe(values(side, time));
    if (values(mine, time) === before && values(theirs, time) === before) expect(values(merged, time)).toBe(before);
  }
}

describe("a merge", () => {
  test("has the changes of both sides, outside of the conflicts", () => {
    fc.assert(
      fc.property(edit, edit, edit, (base, mine, theirs) => {
        const { merged, places } = mergeEdits(base, mine, theirs);
        expectBoth((one, time) => isIn(one.kept, time), [base, mine, theirs], merged, places.kept);
        expectBoth(textAt, [base, mine, theirs], merged, places.texts);
      }),
    );
  });

  test("with a side that changed nothing is the other side", () => {
    fc.assert(
      fc.property(edit, edit, (base, changed) => {
        for (const [mine, theirs] of [
          [base, changed],
          [changed, base],
          [changed, changed],
        ] as const) {
          const { merged, asked, places } = mergeEdits(base, mine, theirs);
          expect(flatten(merged)).toEqual(flatten(changed));
          expect(countChanges(asked) + places.kept.length + places.texts.length).toBe(0);
        }
      }),
    );
  });

  test("is the same from both sides, apart from the conflicts", () => {
    fc.assert(
      fc.property(edit, edit, edit, (base, mine, theirs) => {
        const one = mergeEdits(base, mine, theirs);
        const other = mergeEdits(base, theirs, mine);
        expect(other.places).toEqual(one.places);
        for (const time of times) {
          if (!isIn(one.places.kept, time)) expect(isIn(other.merged.kept, time)).toBe(isIn(one.merged.kept, time));
          if (!isIn(one.places.texts, time)) expect(textAt(other.merged, time)).toBe(textAt(one.merged, time));
        }
      }),
    );
  });

  test("has mine in the places, and theirs after their changes were taken", () => {
    fc.assert(
      fc.property(edit, edit, edit, (base, mine, theirs) => {
        const { merged, asked, places } = mergeEdits(base, mine, theirs);
        const taken = applyChanges(merged, asked);
        for (const time of times) {
          if (isIn(places.kept, time)) {
            expect(isIn(merged.kept, time)).toBe(isIn(mine.kept, time));
            expect(isIn(taken.kept, time)).toBe(isIn(theirs.kept, time));
          } else expect(isIn(taken.kept, time)).toBe(isIn(merged.kept, time));
          if (isIn(places.texts, time)) {
            expect(textAt(merged, time)).toBe(textAt(mine, time));
            expect(textAt(taken, time)).toBe(textAt(theirs, time));
          } else expect(textAt(taken, time)).toBe(textAt(merged, time));
        }
      }),
    );
  });
});

describe("edits of two people", () => {
  const whole: Edit = { kept: [{ start: 0, end: END }], texts: [] };
  const without = (...removed: [number, number][]): Edit => {
    const changes = removed.map(([start, end]) => ({ start, end, isKept: false }));
    return applyChanges(whole, { kept: changes, texts: [] });
  };

  test("two words with the pause between them are both removed", () => {
    const { merged, places } = mergeEdits(whole, without([10, 16]), without([14, 20]));
    expect(merged).toEqual(without([10, 20]));
    expect(places.kept).toEqual([]);
    // The pause is removed already, but for its edges.
    const base = without([13, 17]);
    const [first, second] = [without([10, 18]), without([12, 20])];
    expect(mergeEdits(base, first, second)).toMatchObject({
      merged: without([10, 20]),
      count: 1,
      places: { kept: [] },
    });
  });

  test("only an edge that both have moved is a conflict", () => {
    const { merged, asked, places } = mergeEdits(whole, without([10, 16], [30, 32]), without([10, 14], [40, 42]));
    expect(merged).toEqual(without([10, 16], [30, 32], [40, 42]));
    expect(places.kept).toEqual([{ start: 10, end: 16 }]);
    expect(asked.kept).toEqual([{ start: 14, end: 16, isKept: true }]);
  });

  test("a word that both have corrected is a conflict, unless the text is the same", () => {
    const say = (text: string): Edit => ({ ...whole, texts: [{ start: 3, end: 5, text }] });
    expect(mergeEdits(whole, say("Jānis"), say("Jānis")).places.texts).toEqual([]);
    const { merged, asked } = mergeEdits(whole, say("Jānis"), say("Janis"));
    expect(merged).toEqual(say("Jānis"));
    expect(applyChanges(merged, asked)).toEqual(say("Janis"));
  });
});
