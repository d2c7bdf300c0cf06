/** The task that runs when it is woken or due. */
import { expect, test } from "bun:test";
import { createPoller } from "../../../src/lib/poller";
import { until } from "../../until";

test("a task that was stopped while it was woken runs again after the next start", async () => {
  let runs = 0;
  const poller = createPoller(
    async () => {
      runs++;
      return null;
    },
    () => {},
  );
  poller.start();
  await poller.stop();
  expect([runs, poller.isStopped]).toEqual([0, true]);
  poller.start();
  await until("a run", () => runs === 1);
  poller.wake();
  await until("another run", () => runs === 2);
  await poller.stop();
});
