/**
 * The baseline: a server that writes each request body to a file. `/synced` responds once the bytes are on disk, as
 * Offcut does; other paths respond while they may still be in memory.
 */
import { open, rm } from "node:fs/promises";
import { join } from "node:path";

const folder = process.argv[2]!;
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  idleTimeout: 120,
  fetch: async (request) => {
    const path = join(folder, `${Bun.randomUUIDv7()}.body`);
    const writer = Bun.file(path).writer({ highWaterMark: 1024 * 1024 });
    for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
      writer.write(chunk);
      await writer.flush();
    }
    await writer.end();
    if (new URL(request.url).pathname === "/synced") {
      const file = await open(path, "r");
      await file.sync();
      await file.close();
    }
    await rm(path);
    return new Response(null, { status: 204 });
  },
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.port}` }));
