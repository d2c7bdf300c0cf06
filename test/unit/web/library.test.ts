import "./page-globals";
import { describe, expect, test } from "bun:test";
import { drawEnvelope } from "../../../web/pages/project/envelope";
import { countFrames, findKeptShare, findState, type Recording } from "../../../web/pages/project/recording";
import { createSelection } from "../../../web/pages/project/selection";
import type { UploadItem } from "../../../web/upload/queue";

const READY = {
  id: "a",
  state: "ready",
  duration_seconds: "60",
  has_transcript: true,
  language_detected: { code: "de", confidence: 0.9 },
  latest_cut: { id: "c", kept_duration: 45, open_marks: 2 },
  open_cut: null,
  last_render: null,
} as Recording;
const render = (state: string, cut_id: string | null = "c") => ({
  last_render: { id: "r", cut_id, state, progress: 0.62, completed_at: null } as Recording["last_render"],
});

describe("the state of a recording is shown if it is not normal", () => {
  test.each<[string, object, string | undefined]>([
    ["ready", {}, undefined],
    ["being uploaded elsewhere", { state: "pending_upload" }, "Not uploaded"],
    ["transcribed", { state: "processing", has_transcript: false }, "Transcribing"],
    ["prepared", { state: "processing" }, "Preparing"],
    ["waiting for credits", { state: "pending_payment" }, "Needs credits"],
    ["failed", { state: "failed" }, "Failed"],
    ["in line for a cut", { open_cut: { id: "d", state: "pending", progress: null } }, "In line for a cut"],
    ["being cut", { open_cut: { id: "d", state: "processing", progress: 0.1 } }, "Cutting"],
    ["in line for a render", render("pending"), "In line for a render"],
    ["rendered now", render("processing"), "Rendering"],
    ["rendered", render("completed"), "Rendered"],
    ["rendered from an older cut", render("completed", "b"), undefined],
    ["a render that failed", render("failed"), "Render failed"],
    ["cancelled", render("cancelled"), undefined],
    ["in another language", { language_detected: { code: "de", confidence: 0.4 } }, "Not German?"],
  ])("%s", (_, change, text) => expect(findState({ ...READY, ...change }, undefined)?.text).toBe(text));

  test.each([
    [110, "34% · 2 min left"],
    [null, "Uploading 34%"],
  ])("an upload with %p seconds left", (secondsLeft, text) => {
    const upload = { state: "uploading", sentBytes: 34, sizeBytes: 100, secondsLeft } as UploadItem;
    expect(findState({ ...READY, state: "pending_upload" }, upload)?.text).toBe(text);
  });
});

test("what the newest cut keeps", () => {
  expect(findKeptShare(READY)).toBe(0.75);
  expect(findKeptShare({ ...READY, latest_cut: null })).toBeNull();
  expect(findKeptShare({ ...READY, duration_seconds: null })).toBeNull();
});

test("pictures", () => {
  expect(countFrames({ naturalWidth: 3200, naturalHeight: 90 }, { width: 1920, height: 1080 })).toBe(20);
  expect(countFrames({ naturalWidth: 90, naturalHeight: 90 }, { width: null, height: null })).toBe(1);
  // Both bars have their size, and a quiet one is as high as a loud one.
  expect(drawEnvelope(new Uint8Array([100, 50]))).toBe(drawEnvelope(new Uint8Array([200, 100])));
});

test("a selection grows by ranges in the order of the list", () => {
  let shown = ["a", "b", "c", "d"];
  const selection = createSelection(() => shown);
  const read = () => [...selection.ids.value].toSorted().join("");
  selection.toggle("b");
  selection.extendTo("d");
  expect(read()).toBe("bcd");
  selection.toggle("c");
  expect(read()).toBe("bd");
  selection.extendTo("a");
  expect(read()).toBe("abcd");
  // The one from which the range starts is gone.
  shown = ["a", "d"];
  selection.clear();
  selection.toggle("x");
  selection.extendTo("d");
  expect(read()).toBe("dx");
  selection.selectAll();
  expect([read(), selection.isAll.value]).toEqual(["ad", true]);
  // From then on, nothing else is selected by itself.
  selection.toggle("a");
  expect([read(), selection.isAll.value]).toEqual(["d", false]);
  selection.selectAll();
  selection.extendTo("d");
  expect([read(), selection.isAll.value]).toEqual(["ad", false]);
  selection.remove(["a"]);
  expect([read(), selection.isEmpty.value]).toEqual(["d", false]);
});
