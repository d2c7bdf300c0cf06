/** Event stream clients in a process of their own. */
import { join } from "node:path";
import type { FollowerOrder, FollowerReport } from "./follower-process";

export type Followers = AsyncDisposable & {
  send(order: FollowerOrder): void;
  /** Returns the events that the streams have received so far. */
  report(): Promise<FollowerReport>;
};

/** Starts the process. */
export function startFollowers(): Followers {
  let resolveReport: (report: FollowerReport) => void = () => {};
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "follower-process.ts")], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "2000" },
    stdout: "ignore",
    stderr: "inherit",
    // Keeps `NaN`, which JSON does not have.
    serialization: "advanced",
    ipc: (report: FollowerReport) => resolveReport(report),
  });
  return {
    send: (order) => child.send(order),
    report: () =>
      new Promise((resolve) => {
        resolveReport = resolve;
        child.send({ kind: "report" } satisfies FollowerOrder);
      }),
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await child.exited;
    },
  };
}
