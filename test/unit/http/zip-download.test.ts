/** Archives that are written as the client receives them. */
import { expect, test } from "bun:test";
import { zipDownload } from "../../../src/http/call";

test.each([
  ["does not read", 0],
  ["has read a part", 1],
])("a stopped archive ends its writer, which waits for a client that %s", async (_, reads) => {
  const stop = new AbortController();
  const ended = Promise.withResolvers<{ error: unknown; isAborted: boolean }>();
  const reply = zipDownload("a.zip", stop.signal, async (output, signal) => {
    try {
      for (;;) await output.write(new Uint8Array(65_536));
    } catch (error) {
      ended.resolve({ error, isAborted: signal.aborted });
      throw error;
    }
  });
  const reader = reply.stream!.getReader();
  for (let n = 0; n < reads; n++) await reader.read();
  await Bun.sleep(5);
  stop.abort("cancelled");
  expect(await ended.promise).toEqual({ error: "cancelled", isAborted: true });
  expect(await reader.read().catch((error) => error)).toBe("cancelled");
});
