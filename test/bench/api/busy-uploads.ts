/**
 * A process of uploads: `busy-uploads.ts URL KEY…`, one for each key. Each sends a mebibyte twice a second until it is
 * killed.
 */
import { createClient } from "../../http/client";

const CHUNK_BYTES = 1024 ** 2;
const INTERVAL_MS = 500;
const UPLOAD_BYTES = 200 * CHUNK_BYTES;

const [url = "", ...keys] = process.argv.slice(2);
const chunk = new Uint8Array(CHUNK_BYTES).fill(1);

async function upload(key: string): Promise<never> {
  const user = createClient(() => url, key, "");
  for (;;) {
    const { id } = await user.open(UPLOAD_BYTES);
    for (let offset = 0; offset < UPLOAD_BYTES; offset += CHUNK_BYTES) {
      const [sent] = await Promise.all([user.patch(id, offset, chunk), Bun.sleep(INTERVAL_MS)]);
      if (sent.status !== 204) throw new Error(`upload: ${sent.status} ${JSON.stringify(sent.body)}`);
    }
  }
}

// An error ends the process, and the benchmark with it.
await Promise.all(keys.map(upload));
