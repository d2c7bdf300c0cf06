/** A built server and its peer for the benches, and what all of them count with. */
import { join } from "node:path";

const BINARY = join(import.meta.dir, "../../dist/offcut");

export type BenchServer = { url: string; key: string; stop(): Promise<void> };

/** Starts `dist/offcut` on a free port with rate limiting off, and makes an account with a key. */
export async function startOffcut(dataDir: string, settings: Record<string, string> = {}): Promise<BenchServer> {
  const env = {
    OFFCUT_DATA_DIR: dataDir,
    OFFCUT_PORT: "0",
    OFFCUT_RATE_LIMIT: "0",
    PATH: process.env.PATH ?? "",
    ...settings,
  };
  const server = Bun.spawn([BINARY, "serve"], { env, stdout: "pipe", stderr: "inherit" });
  const { url } = await lineWith(server.stdout, '"event":"ready"');
  const shell = (...args: string[]) =>
    Bun.spawnSync([BINARY, ...args], { env })
      .stdout.toString()
      .trim();
  shell("user", "create", "--email", "bench@example.com", "--password", "benchmark");
  return {
    url: url!,
    key: shell("key", "create", "--email", "bench@example.com"),
    stop: async () => {
      server.kill("SIGTERM");
      await server.exited;
    },
  };
}

/** Starts a peer: a script that prints a line of JSON once it listens. */
export async function startPeer(
  script: string,
  folder: string,
): Promise<{ told: Record<string, string>; stop(): void }> {
  const peer = Bun.spawn([process.execPath, script, folder], { stdout: "pipe" });
  return { told: await lineWith(peer.stdout, '"url"'), stop: () => peer.kill() };
}

/** The first line of JSON that holds `mark`; what comes later is read and dropped, so that the writer never waits. */
async function lineWith(output: ReadableStream<Uint8Array>, mark: string): Promise<Record<string, string>> {
  const reader = output.getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`ended: ${text}`);
    text += new TextDecoder().decode(value);
    const line = text.split("\n").find((l) => l.includes(mark) && l.endsWith("}"));
    if (!line) continue;
    void (async () => {
      while (!(await reader.read()).done);
    })();
    return JSON.parse(line);
  }
}

/** The middle one. */
export function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}
