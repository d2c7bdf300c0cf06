/** How long a job child may work. */
import { expect, test } from "bun:test";
import { getProbeTimeLimits, getTimeLimits } from "../../../src/work/job-child/limits";

test("probing a small file may take little, a large one as much as any", () => {
  expect(getProbeTimeLimits(30_000).cpuSeconds).toBeLessThan(20);
  expect(getProbeTimeLimits(30_000).wallSeconds).toBeLessThan(200);
  expect(getProbeTimeLimits(100 * 1024 ** 3)).toEqual(getTimeLimits("probe", 0));
});
