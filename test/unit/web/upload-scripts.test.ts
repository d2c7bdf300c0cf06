import "./page-globals";
import { expect, test } from "bun:test";
import { pairScripts } from "../../../web/upload/scripts";

const toFile = (path: string) => {
  const start = path.lastIndexOf("/") + 1;
  return { path, folder: path.slice(0, start), name: path.slice(start) };
};

test.each<[files: string[], scripts: Record<string, string>, unmatched: string[], ambiguous?: string[]]>([
  [["Talk.mp4", "talk.TXT"], { "Talk.mp4": "talk.TXT" }, []],
  [["a.mp4", "b.docx", "a.srt"], { "a.mp4": "a.srt" }, ["b.docx"]],
  // Both are recordings of one script.
  [["a.mp4", "a.wav", "a.md"], { "a.mp4": "a.md", "a.wav": "a.md" }, []],
  // Composed and decomposed letters are the same name.
  [["Ve\u0301lo.mov", "V\u00e9lo.vtt"], { "Ve\u0301lo.mov": "V\u00e9lo.vtt" }, []],
  [["only.txt"], {}, ["only.txt"]],
  [["a.b.mp4", "a.txt"], {}, ["a.txt"]],
  [[], {}, []],
  // Cameras begin with the same number each day.
  [
    ["day1/C1.mp4", "day1/C1.txt", "day2/C1.mp4", "day2/C1.txt"],
    { "day1/C1.mp4": "day1/C1.txt", "day2/C1.mp4": "day2/C1.txt" },
    [],
  ],
  [["day1/C1.mp4", "day2/C1.txt"], {}, ["day2/C1.txt"]],
  [["C1.mp4", "C1.MP4", "C1.txt"], {}, [], ["C1.txt"]],
  [["C1.mp4", "C1.txt", "c1.srt", "C2.mp4", "C2.txt"], { "C2.mp4": "C2.txt" }, [], ["C1.txt", "c1.srt"]],
])("the scripts of %j", (files, scripts, unmatched, ambiguous = []) => {
  const found = pairScripts(files.map(toFile), ({ folder }) => folder);
  expect(Object.fromEntries([...found.scripts].map(([one, other]) => [one.path, other.path]))).toEqual(scripts);
  expect(found.unmatched.map(({ path }) => path)).toEqual(unmatched);
  expect(found.ambiguous.map(({ path }) => path)).toEqual(ambiguous);
  expect(found.recordings.map(({ path }) => path)).toEqual(files.filter((file) => /\.(mp4|wav|mov)$/i.test(file)));
});
