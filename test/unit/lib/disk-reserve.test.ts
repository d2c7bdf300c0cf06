import { describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { createDiskReserve, getFreeBytes } from "../../../src/lib/disk-reserve";

const MIB = 1024 * 1024;

/** Creates a reserve on a disk with `free` bytes. */
function disk(free: number, reserve: number) {
  const state = { free, asked: 0 };
  const reserved = createDiskReserve("/", reserve, () => {
    state.asked++;
    return state.free;
  });
  return { state, ...reserved };
}

describe("the reserve", () => {
  test("makes only the space above the reserve available", () => {
    expect(disk(10, 4).availableBytes()).toBe(6);
    expect(disk(4, 4).availableBytes()).toBe(0);
    expect(disk(3, 4).availableBytes()).toBe(0);
    expect(disk(3, 0).availableBytes()).toBe(3);
  });

  test("limits the file size of child processes", () => {
    expect(disk(100 * MIB, 20 * MIB).maxFileBytes()).toBe(90 * MIB);
    expect(disk(5 * MIB, 20 * MIB).maxFileBytes()).toBe(MIB);
  });

  test("is critical when three quarters are used", () => {
    expect([disk(25, 100).isCritical(), disk(24, 100).isCritical(), disk(0, 0).isCritical()]).toEqual([
      ...[false, true, false],
    ]);
  });

  test("many writers together cannot exceed it, although free space is measured rarely", () => {
    const one = disk(110 * MIB, 10 * MIB);
    let taken = 0;
    while (one.claim(64 * 1024)) {
      taken += 64 * 1024;
      one.state.free -= 64 * 1024;
    }
    expect(taken).toBe(100 * MIB);
    expect(one.state.asked).toBeLessThan(20);
  });

  test("counts claimed bytes that are not written yet", () => {
    const one = disk(5 * MIB, 0);
    expect([one.claim(3 * MIB), one.claim(2 * MIB)]).toEqual([true, true]);
    expect(one.state.asked).toBe(1);
  });

  test("notices writes and deletions of other programs", () => {
    const one = disk(30 * MIB, 10 * MIB);
    expect(one.claim(17 * MIB)).toBe(true);
    one.state.free = 10 * MIB;
    expect(one.claim(1)).toBe(false);
    one.state.free = 11 * MIB;
    expect(one.claim(MIB)).toBe(true);
  });

  test("measures the file system", () => {
    expect(getFreeBytes(tmpdir())).toBeGreaterThan(0);
  });
});
