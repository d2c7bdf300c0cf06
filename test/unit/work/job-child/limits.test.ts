import { expect, test } from "bun:test";
import { getProbeTimeLimits, getTimeLimits } from "../../../../src/work/job-child/limits";

test("the limits of probing grow with the file, up to those of the operation", () => {
  expect(getProbeTimeLimits(30_000).cpuSeconds).toBeLessThan(20);
  expect(getProbeTimeLimits(30_000).wallSeconds).toBeLessThan(200);
  expect(getProbeTimeLimits(100 * 1024 ** 3)).toEqual(getTimeLimits("probe", 0));
});
