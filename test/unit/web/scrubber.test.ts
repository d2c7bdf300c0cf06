import "./page-globals";
import { expect, test } from "bun:test";
import { readStart } from "../../../web/editor/player/scrubber";

test("the start of a part of the audio is read from its boxes", () => {
  const bytes = (length: number, ...fields: [at: number, value: number | string][]) => {
    const view = new DataView(new ArrayBuffer(length));
    for (const [at, value] of fields) {
      if (typeof value === "number") view.setUint32(at, value);
      else for (let index = 0; index < 4; index++) view.setUint8(at + index, value.charCodeAt(index));
    }
    return view.buffer;
  };
  const media: [number, number | string][] = [
    [4, "mdhd"],
    [20, 48_000],
  ];
  expect(readStart(bytes(96, ...media, [40, "tfdt"], [48, 96_000]))).toBe(2_000_000);
  expect(readStart(bytes(96, ...media, [40, "tfdt"], [44, 0x0100_0000], [52, 24_000]))).toBe(500_000);
  expect(readStart(bytes(96, ...media))).toBeNull();
  expect(readStart(bytes(8))).toBeNull();
  expect(readStart(bytes(96, [4, "mdhd"], [40, "tfdt"]))).toBeNull();
});
