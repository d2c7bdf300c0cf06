/** The command `offcut worker` as a process, at a head over real HTTP and a real Redis. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Queue } from "bullmq";
import { BUNDLED_FFMPEG } from "../../../http/media";
import { openRedis, REDIS_SERVER } from "../../../redis";
import { temporaryFolder } from "../../../temporary-folder";
import { until } from "../../../until";
import { startFakeHead } from "./fake-head";

setDefaultTimeout(90_000);

const MAIN = join(import.meta.dir, "../../../../src/main.ts");

test.skipIf(REDIS_SERVER === null)("a second signal ends a worker at once, whatever it is doing", async () => {
  await using head = startFakeHead();
  await using redis = await openRedis();
  await using folder = await temporaryFolder();
  const child = Bun.spawn([process.execPath, MAIN, "worker", "--redis", redis.url, "--jobs", "cut"], {
    env: {
      PATH: process.env.PATH,
      HOME: folder.path,
      OFFCUT_DATA_DIR: join(folder.path, "data"),
      OFFCUT_FFMPEG: BUNDLED_FFMPEG,
      OFFCUT_HEAD: head.url,
      OFFCUT_TOKEN: head.token,
    },
    stdout: "pipe",
    stderr: "inherit",
  });
  let log = "";
  const reading = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) log += text;
  })();
  await until("the worker joins", () => head.heartbeats.length > 0, 60);
  const execution = head.addExecution({
    kind: "cut",
    input: {},
    files: [{ name: "source", content: new Uint8Array(100) }],
  });
  execution.isStuck = true;
  const queue = new Queue(head.queue, { connection: { host: "127.0.0.1", port: redis.port } });
  await queue.add("execution", { execution: execution.id, url: execution.url }, { jobId: execution.id });
  // An execution that finds the worker draining is given back before it has started.
  await until("the execution starts", () => log.includes("execution.started"), 30);
  child.kill("SIGTERM");
  await until("the worker drains", () => log.includes("worker.draining"), 30);
  child.kill("SIGTERM");
  await child.exited;
  await queue.close();
  expect(child.exitCode).toBe(143);
  await reading;
  expect(log).not.toMatch(/wt_secret|signature/);
});
