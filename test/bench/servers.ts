/** Starts the servers that benchmarks measure, Offcut and a baseline, and computes medians. */
import { join } from "node:path";

const EXECUTABLE = join(import.meta.dir, "../../dist/offcut");

export type BenchServer = { pid: number; url: string; key: string; stop(): Promise<void> };

/** Starts `dist/offcut` on a free port without rate limiting, and creates an account with an API key. */
export async function startOffcut(dataDir: string, settings: Record<string, string> = {}): Promise<BenchServer> {
  const env = {
    OFFCUT_DATA_DIR: dataDir,
    OFFCUT_PORT: "0",
    OFFCUT_RATE_LIMIT: "0",
    PATH: process.env.PATH ?? "",
    ...settings,
  };
  const server = Bun.spawn([EXECUTABLE, "serve"], { env, stdout: "pipe", stderr: "inherit" });
  const { url } = await readJsonLine(server.stdout, '"event":"server.started"');
  const run = (...args: string[]) =>
    Bun.spawnSync([EXECUTABLE, ...args], { env })
      .stdout.toString()
      .trim();
  run("user", "create", "--email", "bench@example.com", "--password", "correct horse battery");
  return {
    pid: server.pid,
    url: url!,
    key: run("key", "create", "--email", "bench@example.com"),
    stop: async () => {
      server.kill("SIGTERM");
      await server.exited;
    },
  };
}

/** Starts a baseline server: a script that prints a line of JSON once it listens. `info` is that object. */
export async function startBaseline(
  script: string,
  folder: string,
): Promise<{ info: Record<string, string>; stop(): void }> {
  const server = Bun.spawn([process.execPath, script, folder], { stdout: "pipe" });
  return { info: await readJsonLine(server.stdout, '"url"'), stop: () => server.kill() };
}

/**
 * Returns the first line of JSON that contains `mark`. Later output is read and discarded, so that the writer never
 * blocks.
 */
async function readJsonLine(output: ReadableStream<Uint8Array>, mark: string): Promise<Record<string, string>> {
  const reader = output.getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`server ended before it was ready: ${text}`);
    text += new TextDecoder().decode(value);
    const line = text.split("\n").find((l) => l.includes(mark) && l.endsWith("}"));
    if (!line) continue;
    void (async () => {
      while (!(await reader.read()).done);
    })();
    return JSON.parse(line);
  }
}

/** Returns the median. */
export function getMedian(values: number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}
