import { expect, test } from "bun:test";
import { compareVersions } from "../../../src/domain/versions";

test.each([
  ["1.2.3", "1.2.3", 0],
  ["1.2.3", "1.2.4", -1],
  ["1.10.0", "1.9.9", 1],
  ["2.0.0-beta.1", "1.99.99", 1],
  ["0.9.0", "1.0.0-rc.1", -1],
  ["latest", "1.0.0", 0],
  ["1.0", "9.9.9", 0],
])("%s and %s", (a, b, expected) => {
  expect(Math.sign(compareVersions(a, b))).toBe(expected);
  expect(Math.sign(compareVersions(b, a))).toBe(expected === 0 ? 0 : -expected);
});
