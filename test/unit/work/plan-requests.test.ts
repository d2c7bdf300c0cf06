import { expect, test } from "bun:test";
import { createPlanRequests } from "../../../src/work/plan-requests";

test("a user who asks for many files delays nobody else, and is refused beyond a limit", async () => {
  const requests = createPlanRequests();
  const held = Promise.withResolvers<string>();
  const many = Array.from({ length: 72 }, () =>
    requests.run("busy", () => held.promise).catch((error) => `${error.code} ${error.details.retryAfterSeconds}`),
  );
  expect(await requests.run("visitor", async () => "at once")).toBe("at once");
  held.resolve("done");
  const outcomes = await Promise.all(many);
  expect(outcomes.filter((outcome) => outcome === "done")).toHaveLength(66);
  expect(outcomes.filter((outcome) => outcome === "rate_limited 5")).toHaveLength(6);
});

test("an error of the work is passed on", async () => {
  const failing = createPlanRequests().run("user", () => Promise.reject(new Error("failed")));
  await expect(failing).rejects.toThrow("failed");
});
