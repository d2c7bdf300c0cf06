import { expect, test } from "bun:test";
import { PEAKS_HEADER_BYTES, reducePeaks } from "../../../src/domain/peaks";

const file = (...peaks: number[]) => new Uint8Array([...new Array(PEAKS_HEADER_BYTES).fill(255), ...peaks]);

test.each<[string, Uint8Array, number, number[]]>([
  ["the largest of each part", file(1, 9, 3, 4, 5, 2), 3, [9, 4, 5]],
  ["parts of different length", file(1, 2, 3, 4, 5), 2, [2, 5]],
  ["fewer peaks than points", file(7, 8), 4, [7, 7, 8, 8]],
  ["no peaks", file(), 2, [0, 0]],
  ["less than a header", new Uint8Array(3), 1, [0]],
])("%s", (_, bytes, points, expected) => expect([...reducePeaks(bytes, points)]).toEqual(expected));
