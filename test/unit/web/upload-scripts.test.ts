import "./page-globals";
import { expect, spyOn, test } from "bun:test";
import { type Me, session } from "../../../web/app/session";
import { pairScripts, sendScript, takeScripts } from "../../../web/upload/scripts";
import { definePageGlobal, usePageGlobals } from "./page-globals";

usePageGlobals();

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

test("the script of a recording is sent again after the time for which a busy server asks", async () => {
  session.value = { kind: "signed-in", me: { id: "me" } as Me };
  const recording = new File(["x"], "Talk.mp4");
  takeScripts([recording, new File(["Alpha."], "talk.txt")]);
  const replies = [
    Response.json({ detail: "Busy." }, { status: 503, headers: { "Retry-After": "7" } }),
    Response.json({ detail: "Busy." }, { status: 500 }),
    Response.json({ mode: "natural" }),
    Response.json({}),
  ];
  const sent: string[] = [];
  definePageGlobal("fetch", async (request: Request) => {
    sent.push(`${request.method} ${request.headers.get("Offcut-Workspace")} ${await request.text()}`);
    return replies.shift();
  });
  const waits: (number | undefined)[] = [];
  const timers = spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms?: number) => {
    waits.push(ms);
    queueMicrotask(run);
    return 0;
  }) as unknown as typeof setTimeout);
  try {
    await sendScript(recording, "/api/v1/assets/upload-resumable/asset", "studio");
  } finally {
    timers.mockRestore();
    session.value = { kind: "unknown" };
  }
  const put = JSON.stringify({ mode: "natural", script: "Alpha." });
  expect(sent).toEqual(["GET studio ", "GET studio ", "GET studio ", `PUT studio ${put}`]);
  expect(waits.filter(Boolean)).toEqual([7_000, 1_000]);
});
