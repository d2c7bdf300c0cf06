/** Limits of requested exports. */
import { expect, test } from "bun:test";
import { createBatchExports } from "../../../../src/work/exports/batch-exports";

test("of too many exports, the oldest ones that are not being downloaded are dropped", () => {
  let time = 0;
  const exports = createBatchExports(() => time);
  const request = (userId: string) => exports.create({ workspaceId: "w", userId, assetIds: [], parts: ["srt"] });
  const isKept = ({ id }: { id: string }) => exports.find("w", id) !== null;
  const [running, ...all] = Array.from({ length: 500 }, (_, n) => request(`user ${n}`));
  exports.start(running!);
  all.push(request("another user"));
  expect(isKept(running!)).toBe(true);
  expect(all.map(isKept)).toEqual([false, ...Array(499).fill(true)]);

  const own = Array.from({ length: 11 }, () => request("another user"));
  expect(own.map(isKept)).toEqual([false, ...Array(10).fill(true)]);
  time = 3_600_001;
  expect([running!, ...own].map(isKept)).toEqual([true, ...Array(11).fill(false)]);
});

test("a cancelled export is gone at once, and counts as being downloaded until its archive has ended", () => {
  const exports = createBatchExports();
  const request = () => exports.create({ workspaceId: "w", userId: "u", assetIds: [], parts: ["srt"] });
  const [first, second, third] = [request(), request(), request()];
  const stopped = exports.start(first);
  exports.start(second);
  exports.remove(first);
  expect([stopped.aborted, exports.find("w", first.id)]).toEqual([true, null]);
  expect(() => exports.start(third)).toThrow("Other exports are being downloaded");
  exports.end(first, "failed");
  exports.start(third);
  // One that was cancelled before its download starts.
  const fourth = request();
  exports.remove(fourth);
  expect(() => exports.start(fourth)).toThrow("Export not found");
});
