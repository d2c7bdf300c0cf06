import { expect, test } from "bun:test";
import { formatBytes } from "../../../src/domain/bytes";

test.each([
  [0, "0 bytes"],
  [1023, "1023 bytes"],
  [1024, "1 KiB"],
  [1536, "1.5 KiB"],
  [150 * 1024, "150 KiB"],
  [2 * 1024 ** 3, "2 GiB"],
  [1.35e9, "1.3 GiB"],
  [9e15, "8 PiB"],
])("%d is %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
