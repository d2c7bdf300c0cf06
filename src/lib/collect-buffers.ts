/** Bounds the memory of buffers that are used once, while gigabytes of them pass through. */

const MAX_UNCOLLECTED_BYTES = 16 * 1024 * 1024;

/** Returns a function to call with the bytes of each buffer. The collector alone runs late on a busy machine: it left 200 MB of them. */
export function createBufferCollector(): (bytes: number) => void {
  let uncollected = 0;
  return (bytes) => {
    uncollected += bytes;
    if (uncollected < MAX_UNCOLLECTED_BYTES) return;
    uncollected = 0;
    Bun.gc(true);
  };
}
