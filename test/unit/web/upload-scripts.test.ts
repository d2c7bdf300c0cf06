import { expect, test } from "bun:test";
import { pairScripts } from "../../../web/upload/pair-scripts";

const name = (text: string) => ({ name: text });

test.each<[string[], Record<string, string>, string[]]>([
  [["Talk.mp4", "talk.TXT"], { "Talk.mp4": "talk.TXT" }, []],
  [["a.mp4", "b.docx", "a.srt"], { "a.mp4": "a.srt" }, ["b.docx"]],
  // Both are recordings of one script.
  [["a.mp4", "a.wav", "a.md"], { "a.mp4": "a.md", "a.wav": "a.md" }, []],
  // Composed and decomposed letters are the same name.
  [["Ve\u0301lo.mov", "V\u00e9lo.vtt"], { "Ve\u0301lo.mov": "V\u00e9lo.vtt" }, []],
  [["only.txt"], {}, ["only.txt"]],
  [["a.b.mp4", "a.txt"], {}, ["a.txt"]],
  [[], {}, []],
])("the scripts of %j", (files, scripts, unmatched) => {
  const found = pairScripts(files.map(name));
  expect(Object.fromEntries([...found.scripts].map(([one, other]) => [one.name, other.name]))).toEqual(scripts);
  expect(found.unmatched.map((one) => one.name)).toEqual(unmatched);
  expect(found.recordings.map((one) => one.name)).toEqual(files.filter((file) => /\.(mp4|wav|mov)$/.test(file)));
});
