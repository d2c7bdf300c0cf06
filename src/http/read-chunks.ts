/** Reads the body of a request as it arrives. */
import { AppError } from "../domain/errors";

/**
 * Yields the chunks of a body. Throws the signal's reason once it is aborted, also while no bytes arrive, and
 * `AppError` `bad_request` when the connection breaks.
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array> | null,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        signal.throwIfAborted();
        throw brokenBodyError(cause);
      });
      signal.throwIfAborted();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

/** The error for a connection that broke before the body was complete. */
export const brokenBodyError = (cause?: unknown): AppError =>
  new AppError("bad_request", "Request body ended before all bytes were received.", { cause });
