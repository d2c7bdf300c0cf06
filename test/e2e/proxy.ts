/** A connection that breaks: a TCP proxy that cuts its first connections after a number of bytes to the server. */
import { type AddressInfo, connect, createServer } from "node:net";

export type BreakingProxy = AsyncDisposable & { url: string; broken(): number };

/** Passes everything on to `target`. `cutAfter`: one connection each is cut when it has carried that many bytes. */
export async function breakingProxy(target: string, cutAfter: number[]): Promise<BreakingProxy> {
  const { hostname, port } = new URL(target);
  const limits = [...cutAfter];
  let broken = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let carried = 0;
    for (const socket of [client, upstream]) socket.on("error", () => {});
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
    upstream.pipe(client);
    client.on("data", (chunk) => {
      carried += chunk.length;
      if (limits[0] !== undefined && carried > limits[0]) {
        limits.shift();
        broken++;
        client.destroy();
        upstream.destroy();
        return;
      }
      if (!upstream.write(chunk)) {
        client.pause();
        upstream.once("drain", () => client.resume());
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    broken: () => broken,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
