/** The peer: a bare server that writes each request's body to a file. */
import { join } from "node:path";

const folder = process.argv[2]!;
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  idleTimeout: 120,
  fetch: async (request) => {
    const writer = Bun.file(join(folder, `${Bun.randomUUIDv7()}.bare`)).writer({ highWaterMark: 1024 * 1024 });
    for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
      writer.write(chunk);
      await writer.flush();
    }
    await writer.end();
    return new Response(null, { status: 204 });
  },
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.port}` }));
