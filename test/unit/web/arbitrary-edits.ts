/** Random recordings, plans and edits for the tests of the editor's model. */
import fc from "fast-check";
import { type EditorPlan, readPlan } from "../../../web/editor/model/plan";
import type { Words } from "../../../web/editor/model/words";

const REASONS = ["silence", "filler", "retake", "off_script", "noise", "manual"] as const;

/** A recording of words with pauses, some of which overlap, and a plan with unrelated spans. */
export const recordings: fc.Arbitrary<{ words: Words; plan: EditorPlan }> = fc
  .record({
    words: fc.array(
      fc.record({ pause: fc.integer({ min: -15, max: 900 }), length: fc.integer({ min: 20, max: 700 }) }),
      {
        minLength: 1,
        maxLength: 40,
      },
    ),
    tail: fc.integer({ min: 100, max: 900 }),
    spans: fc.array(
      fc.record({
        length: fc.integer({ min: 100, max: 3_000 }),
        reason: fc.constantFrom(null, ...REASONS),
        review: fc.constantFrom(null, "check"),
      }),
      { maxLength: 30 },
    ),
  })
  .map(({ words, tail, spans }) => {
    let at = 0;
    const start: number[] = [];
    const end: number[] = [];
    for (const { pause, length } of words) {
      start.push(Math.max(0, at + pause) * 1000);
      at += pause + length;
      end.push(at * 1000);
    }
    const seconds = (at + tail) / 1000;
    return {
      words: { text: words.map((_, index) => `word${index}`), start, end },
      plan: readPlan(toSource(seconds, spans)),
    };
  });

type SpanShape = { length: number; reason: (typeof REASONS)[number] | null; review: string | null };

function toSource(duration: number, shapes: SpanShape[]) {
  const source = { source_duration: duration, segments: [] as object[], removed: [] as object[] };
  let start = 0;
  for (const { length, reason, review } of [...shapes, { length: 1e9, reason: null, review: null }]) {
    if (start >= duration) break;
    // Spans are at least as long as those of the server.
    const wanted = start + length / 1000;
    const end = duration - wanted < 0.1 ? duration : wanted;
    if (reason === null) source.segments.push({ start, end, review });
    else source.removed.push({ start, end, reason, rule: reason === "silence" ? null : `${reason}.test` });
    start = end;
  }
  return source as unknown as Parameters<typeof readPlan>[0];
}

/** A place in a recording as a share of its length. */
export const share = fc.double({ min: 0, max: 1, noNaN: true });
