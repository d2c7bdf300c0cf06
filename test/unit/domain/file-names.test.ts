import { describe, expect, test } from "bun:test";
import { createUniqueNames, getRenderFileName, toPortableName } from "../../../src/domain/file-names";
import { measureProcessorMs } from "../../processor-time";

describe("a portable name", () => {
  test.each([
    ["talk.mp4", "talk.mp4"],
    ["Ünï 日本 🎬.mov", "Ünï 日本 🎬.mov"],
    ["../../etc/passwd", "_.._etc_passwd"],
    ["C:\\Windows\\a.mp4", "C__Windows_a.mp4"],
    ["/", "_"],
    ["..", "file"],
    ["", "file"],
    [" . ", "file"],
    [".hidden.wav", "hidden.wav"],
    ["name. ", "name"],
    ["a\u0000b\nc.mp4", "a_b_c.mp4"],
    ["evil\u202e4pm.exe", "evil4pm.exe"],
    ["con", "_con"],
    ["LPT1.mp4", "_LPT1.mp4"],
    ["console.mp4", "console.mp4"],
    ['a<b>c:"d|e?f*.wav', "a_b_c__d_e_f_.wav"],
    ["a\u0308.wav", "ä.wav"],
    ["\ud800.wav", "\ufffd.wav"],
  ])("of %j is %j", (name, expected) => {
    expect(toPortableName(name)).toBe(expected);
  });

  test("has at most 200 bytes, and keeps its extension and whole characters", () => {
    const long = toPortableName(`${"日".repeat(300)}.mp4`);
    expect(Buffer.byteLength(long)).toBeLessThanOrEqual(200);
    expect(long).toMatch(/^日+\.mp4$/);
    expect(Buffer.byteLength(toPortableName(`a.${"b".repeat(5_000)}`))).toBe(200);
    expect(toPortableName("🎬".repeat(300)).isWellFormed()).toBe(true);
  });
});

test("duplicates are numbered, also those that differ in case or composition only", () => {
  const unique = createUniqueNames();
  const names = ["a.mp4", "A.mp4", "a (2).mp4", "a.mp4", "b", "b", "a/b", "a_b", "ä", "a\u0308"];
  expect(names.map(unique)).toEqual([
    "a.mp4",
    "A (2).mp4",
    "a (2) (2).mp4",
    "a (3).mp4",
    "b",
    "b (2)",
    "a_b",
    "a_b (2)",
    "ä",
    "ä (2)",
  ]);
});

test("100,000 duplicates are numbered quickly", async () => {
  const unique = createUniqueNames();
  const cost = await measureProcessorMs(() => {
    expect(new Set(Array.from({ length: 100_000 }, () => unique("talk.mp4"))).size).toBe(100_000);
  });
  expect(cost).toBeLessThan(3_000);
});

test.each([
  [{ cut_id: "x", format: "mp4" }, "talk.mov", "talk.cut.mp4"],
  [{ cut_id: null, format: "mp3" }, "talk.v2.mov", "talk.v2.mp3"],
  [{ cut_id: null, format: "mp3" }, null, "render.mp3"],
])("the name of a render %j of %p is %s", ({ cut_id, format }, source, expected) => {
  expect(getRenderFileName({ cut_id, output: {}, resolved: { format } }, source)).toBe(expected);
});

test("a render with a name of its own has it in place of the source's", () => {
  const render = { cut_id: null, output: { file_name: "Episode 12" }, resolved: { format: "mp3" } };
  expect(getRenderFileName(render, "talk.mp4")).toBe("Episode 12.mp3");
});
