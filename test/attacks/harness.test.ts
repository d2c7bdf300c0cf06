/** The harness itself: the probe sees a server that answers, and the watchdog its memory. */
import { expect, test } from "bun:test";
import { until } from "../until";
import { startAttackedServer } from "./attacked-server";

test("a server that is left alone is unharmed, one that is frozen is not", async () => {
  await using server = await startAttackedServer();
  await until("the first probe", () => server.slowestProbeMs() > 0);
  server.expectUnharmed({ maxProbeMs: 500 });
  process.kill(server.pid(), "SIGSTOP");
  await until("an unanswered probe", () => server.slowestProbeMs() > 1_000);
  process.kill(server.pid(), "SIGCONT");
  expect(() => server.expectUnharmed({ maxProbeMs: 500 })).toThrow();
}, 30_000);
