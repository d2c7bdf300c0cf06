/** Bounds the memory of short-lived buffers when gigabytes of data pass through them. */

const MAX_UNCOLLECTED_BYTES = 16 * 1024 * 1024;

/**
 * Returns a function to call with the size of each buffer in bytes. The garbage collector alone runs late on a busy
 * machine, and left 200 MB of buffers.
 */
export function createBufferCollector(): (bytes: number) => void {
  let uncollected = 0;
  return (bytes) => {
    uncollected += bytes;
    if (uncollected < MAX_UNCOLLECTED_BYTES) return;
    uncollected = 0;
    Bun.gc(true);
  };
}
