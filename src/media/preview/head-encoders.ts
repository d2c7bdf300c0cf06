/**
 * Keeps a started encoder for the next head of what is being played. To start a process takes longer than to encode a head, and somebody who
 * edits while the cut plays waits for both. Each process encodes one head, and receives no data before.
 */
import { AppError } from "../../domain/errors";
import type { VideoStream } from "../../domain/media";
import { buildPreviewEncoderArguments } from "./encode";
import {
  type EncodedHead,
  type HeadEncoder,
  type HeadFrames,
  type HeadTools,
  MAX_IDLE_SECONDS,
  startHeadEncoder,
} from "./head";

export type HeadEncoders = {
  /** Encodes a head. Errors: as `HeadEncoder.encode`. */
  encode(video: VideoStream, frames: HeadFrames, signal: AbortSignal): Promise<EncodedHead>;
  /** Starts a process for the next head of this video, soon, unless one waits already or others take the room. */
  prepare(video: VideoStream): void;
  stop(): void;
};

/** Recordings with different colors that are edited at the same time. A process takes memory while it waits. */
const MAX_WAITING = 2;
/** What was asked for last is being decoded by then, for which a machine with few cores needs them. */
const START_DELAY_MS = 250;

/** `start` and `delayMs` are for tests. */
export function createHeadEncoders(
  tools: HeadTools,
  { start = startHeadEncoder, delayMs = START_DELAY_MS } = {},
): HeadEncoders {
  /** By the arguments of the encoder; a timer: the process is started when it fires. */
  const waiting = new Map<string, HeadEncoder | Timer>();
  const getKey = (video: VideoStream) => buildPreviewEncoderArguments(video).join(" ");

  /** Returns the process that waits for a head like this; null if there is none. */
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
      // The next head reports it.
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
    async encode(video, frames, signal) {
      const found = take(getKey(video));
      if (found === null) return await start(tools, video).encode(frames, signal);
      try {
        return await found.encode(frames, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof AppError && error.details.isPermanent) throw error;
        // It may have been killed while it waited, to free memory.
        return await start(tools, video).encode(frames, signal);
      }
    },
    prepare(video) {
      const key = getKey(video);
      if (waiting.has(key) || waiting.size >= MAX_WAITING) return;
      waiting.set(
        key,
        setTimeout(() => startWaiting(key, video), delayMs),
      );
    },
    stop() {
      for (const one of waiting.values()) {
        if ("encode" in one) one.stop();
        else clearTimeout(one);
      }
      waiting.clear();
    },
  };
}
