import { expect, test } from "bun:test";
import { formatBytes } from "../../../src/domain/bytes";

test.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1000, "1 KB"],
  [1500, "1.5 KB"],
  [150_000, "150 KB"],
  [2e9, "2 GB"],
  [2 * 1024 ** 3, "2.1 GB"],
  [1.35e9, "1.4 GB"],
  [9e15, "9 PB"],
])("%d is %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
