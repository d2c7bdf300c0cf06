/** How long a job child may work. */
import { expect, test } from "bun:test";
import { probeTimeLimits, timeLimits } from "../../../src/work/job-child/limits";

test("probing a small file may take little, a large one as much as any", () => {
  expect(probeTimeLimits(30_000).cpuSeconds).toBeLessThan(20);
  expect(probeTimeLimits(30_000).wallSeconds).toBeLessThan(200);
  expect(probeTimeLimits(100 * 1024 ** 3)).toEqual(timeLimits("probe", 0));
});
