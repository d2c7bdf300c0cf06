import { expect, test } from "bun:test";
import { createPlanRequests } from "../../../../src/work/cuts/plan-requests";
import type { JobChild } from "../../../../src/work/job-child/child";

/** Requests whose child process does nothing. `ended` counts the children that have ended. */
function createRequests() {
  const counts = { ended: 0 };
  const end = async () => {
    counts.ended++;
  };
  const child: JobChild = { run: () => Promise.reject(new Error("unexpected")), end, [Symbol.asyncDispose]: end };
  return { counts, requests: createPlanRequests(() => child) };
}

test("a user who requests many files delays no other user, and is refused beyond a limit", async () => {
  const { requests, counts } = createRequests();
  const held = Promise.withResolvers<string>();
  const many = Array.from({ length: 72 }, () =>
    requests
      .run("busy", "/asset", () => held.promise)
      .catch((error) => `${error.code} ${error.details.retryAfterSeconds}`),
  );
  expect(await requests.run("visitor", "/asset", async () => "at once")).toBe("at once");
  held.resolve("done");
  const outcomes = await Promise.all(many);
  expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(66);
  expect(outcomes.filter((outcome) => outcome === "rate_limited 5")).toHaveLength(6);
  expect(counts.ended).toBe(67);
});

test("an error of the work is thrown, and the child ends", async () => {
  const { requests, counts } = createRequests();
  const failing = requests.run("user", "/asset", () => Promise.reject(new Error("failed")));
  await expect(failing).rejects.toThrow("failed");
  expect(counts.ended).toBe(1);
});
