/**
 * Keeps a started encoder for the next head of the recording that is playing. Starting a process takes longer than
 * encoding a head, and a user who edits during playback waits for both. Each process encodes one head, and receives no
 * data before.
 */
import { AppError } from "../../domain/errors";
import type { VideoStream } from "../../domain/media";
import type { SpawnOptions } from "../../lib/process";
import { buildPreviewEncoderArguments } from "./encode";
import {
  type EncodedHead,
  type HeadEncoder,
  type HeadFrames,
  type HeadTools,
  MAX_IDLE_SECONDS,
  startHeadEncoder,
} from "./head";

/** `onEnd` receives the processor time of each process. */
type HeadRun = { priority: SpawnOptions["priority"]; onEnd: (cpuSeconds: number) => void };

/** Maximum number of waiting processes, one per recording with different colors. Each takes memory. */
const MAX_WAITING = 2;
/** Delay of a start: at first, decoding the last requested head needs all cores of a small machine. */
const START_DELAY_MS = 250;

/** `start` and `delayMs` are for tests. */
export function createHeadEncoders(tools: HeadTools, { start = startHeadEncoder, delayMs = START_DELAY_MS } = {}) {
  /** Keyed by the arguments of the encoder. A timer starts the process when it fires. */
  const waiting = new Map<string, HeadEncoder | Timer>();
  const getKey = (video: VideoStream) => buildPreviewEncoderArguments(video).join(" ");

  /** Returns a waiting process that suits the head, or null. */
  function take(key: string): HeadEncoder | null {
    const found = waiting.get(key);
    if (found === undefined || !("encode" in found)) return null;
    waiting.delete(key);
    return found;
  }

  function startWaiting(key: string, video: VideoStream): void {
    waiting.delete(key);
    let encoder: HeadEncoder;
    try {
      encoder = start(tools, video);
    } catch {
      // The next head reports the error.
      return;
    }
    waiting.set(key, encoder);
    const timer = setTimeout(encoder.stop, MAX_IDLE_SECONDS * 1000);
    void encoder.ended.then(() => {
      clearTimeout(timer);
      if (waiting.get(key) === encoder) waiting.delete(key);
    });
  }

  return {
    /** Encodes a head. Processes that wait have the priority of requests. Same errors as `HeadEncoder.encode`. */
    async encode(video: VideoStream, frames: HeadFrames, signal: AbortSignal, run?: HeadRun): Promise<EncodedHead> {
      const { priority, onEnd } = run ?? { priority: "interactive", onEnd: () => {} };
      const encodeWith = (encoder: HeadEncoder) => {
        void encoder.ended.then(onEnd);
        return encoder.encode(frames, signal);
      };
      const found = priority === "interactive" ? take(getKey(video)) : null;
      if (found === null) return await encodeWith(start(tools, video, priority));
      try {
        return await encodeWith(found);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof AppError && error.details.isPermanent) throw error;
        // The process may have been killed while it waited, to free memory.
        return await encodeWith(start(tools, video, priority));
      }
    },
    /**
     * Starts a process for the next head of this video, soon, unless one is already waiting or the limit is reached.
     */
    prepare(video: VideoStream): void {
      const key = getKey(video);
      if (waiting.has(key) || waiting.size >= MAX_WAITING) return;
      waiting.set(
        key,
        setTimeout(() => startWaiting(key, video), delayMs),
      );
    },
    stop(): void {
      for (const one of waiting.values()) {
        if ("encode" in one) one.stop();
        else clearTimeout(one);
      }
      waiting.clear();
    },
  };
}
