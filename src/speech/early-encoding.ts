/**
 * Encodes segments in the other thread while the rest of the recording is still searched for speech. A segment
 * whose edges change later is encoded again.
 */
import type { EnergyContour } from "../domain/speech";
import { fromSeconds, type Span, type Ticks } from "../domain/time";
import type { EncodedAudio } from "./cross-attention";
import { createSegments, MAX_BATCH_TICKS, MAX_POOL_SEGMENTS } from "./segmentation";
import { findSpeechSpans, refineEdges, WINDOW_SECONDS } from "./vad";

/** Segments that end later than this before the end of the searched part may still change. */
const MIN_DISTANCE_TICKS: Ticks = fromSeconds(2);
/** Maximum number of segments in the other thread: one that it encodes, and one that waits. */
const MAX_SENT = 2;

export type EarlyEncoding = ReturnType<typeof createEarlyEncoding>;

/** `encode` runs in the other thread. */
export function createEarlyEncoding(
  encode: (span: Span) => Promise<EncodedAudio>,
  { energy, duration }: { energy: EnergyContour; duration: Ticks },
) {
  const started = new Map<string, Promise<EncodedAudio>>();
  const known = new Set<string>();
  const waiting: Span[] = [];
  let startedTicks = 0;
  let sent = 0;
  let isEnded = false;

  /** Segments are started as long as they fit into the memory of a batch. */
  function send(): void {
    while (!isEnded && sent < MAX_SENT && waiting.length > 0) {
      const span = waiting.shift()!;
      startedTicks += span.end - span.start;
      if (startedTicks > MAX_BATCH_TICKS) {
        isEnded = true;
        return;
      }
      sent++;
      const encoded = encode(span).finally(() => {
        sent--;
      });
      // `take` returns the error.
      encoded.catch(() => {});
      started.set(toKey(span), encoded);
    }
  }

  return {
    /**
     * Receives the probabilities of speech from the start of the recording to the end of the searched part. Starts
     * segments only then, so that a task that is paused or cancelled starts none.
     */
    async add(probabilities: Float32Array): Promise<void> {
      if (isEnded) return;
      const end = fromSeconds(probabilities.length * WINDOW_SECONDS) - MIN_DISTANCE_TICKS;
      const speech = await refineEdges(findSpeechSpans(probabilities), energy, duration);
      for (const segment of createSegments(speech, energy, duration).slice(0, MAX_POOL_SEGMENTS)) {
        const key = toKey(segment);
        if (segment.end > end || known.has(key)) continue;
        known.add(key);
        waiting.push(segment);
      }
      send();
      if (known.size >= MAX_POOL_SEGMENTS && waiting.length === 0) isEnded = true;
    },
    /** Returns the segment's encoded audio; undefined if it was not started. */
    take(segment: Span): Promise<EncodedAudio> | undefined {
      const key = toKey(segment);
      const encoded = started.get(key);
      started.delete(key);
      return encoded;
    },
  };
}

const toKey = ({ start, end }: Span): string => `${start} ${end}`;
