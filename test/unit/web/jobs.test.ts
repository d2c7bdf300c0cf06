import { beforeAll, describe, expect, test } from "bun:test";
import { DetailedError } from "tus-js-client";
import { formatElapsed } from "../../../web/app/format";
import { describeNotification } from "../../../web/app/notification-texts";
import type { Notification } from "../../../web/app/notifications";
import {
  canCancel,
  findCurrentStep,
  findRetryable,
  nameJob,
  nameSteps,
  type Pipeline,
} from "../../../web/app/pipelines";
import { toDayStart } from "../../../web/app/use-query";
import { PAYLOADS } from "../../http/notification-samples";
import { usePageGlobals } from "./page-globals";

usePageGlobals();

let statusPage: typeof import("../../../web/pages/status/status-page");
let uploadLimits: typeof import("../../../web/upload/limits");
let uploadMessages: typeof import("../../../web/upload/messages");
beforeAll(async () => {
  statusPage = await import("../../../web/pages/status/status-page");
  uploadLimits = await import("../../../web/upload/limits");
  uploadMessages = await import("../../../web/upload/messages");
});

const pipeline = (state: Pipeline["state"], ...steps: [name: string, state: string][]) =>
  ({
    state,
    input_asset_deleted: false,
    steps: steps.map(([processor_name, step], id) => ({ id: String(id), processor_name, state: step })),
  }) as Pipeline;

describe("pipelines", () => {
  test("are named by their steps", () => {
    const cut = { ...pipeline("completed", ["cut", "completed"]), input_asset_name: "talk.mp4" };
    expect(nameJob(cut)).toBe("Cut of talk.mp4");
    expect(nameJob({ ...cut, input_asset_name: null })).toBe("Cut of an unnamed recording");
    expect(nameJob({ ...cut, input_asset_name: null, input_asset_deleted: true })).toBe("Cut of a deleted recording");
    expect(nameSteps(["prepare"])).toBe("Preparation");
    expect(nameSteps(["cut", "render"])).toBe("Cut and render");
    expect(nameSteps(["cut", "render", "render"])).toBe("Cut, render, and render");
  });

  test("can be cancelled while they run, but for a preparation", () => {
    expect(canCancel(pipeline("running", ["cut", "completed"], ["render", "pending"]))).toBe(true);
    expect(canCancel(pipeline("pending", ["prepare", "pending"]))).toBe(false);
    expect(canCancel(pipeline("completed", ["cut", "completed"]))).toBe(false);
  });

  test("have a step that runs or is next, and one that can run again", () => {
    const failed = pipeline("failed", ["cut", "completed"], ["render", "failed"], ["render", "pending"]);
    expect(findRetryable(failed)?.id).toBe("1");
    expect(findRetryable({ ...failed, input_asset_deleted: true })).toBeUndefined();
    expect(findRetryable(pipeline("failed", ["prepare", "failed"]))).toBeUndefined();
    const cut = pipeline("failed", ["cut", "failed"]);
    const withCode = (error_code: string) => ({ ...cut, steps: [{ ...cut.steps[0]!, error_code }] });
    expect(findRetryable(withCode("processing_failed"))?.id).toBe("0");
    for (const code of ["no_speech", "script_mismatch", "transcription_unavailable"])
      expect(findRetryable(withCode(code))).toBeUndefined();
    expect(findCurrentStep(pipeline("running", ["cut", "completed"], ["render", "running"]))?.id).toBe("1");
  });
});

test("a day ends where the next one begins, also when clocks are changed", () => {
  const zone = process.env.TZ;
  try {
    process.env.TZ = "America/New_York";
    const bounds = (day: string) => [toDayStart(day, 0), toDayStart(day, 1)];
    expect(bounds("2026-11-01")).toEqual(["2026-11-01T04:00:00.000Z", "2026-11-02T05:00:00.000Z"]);
    expect(bounds("2026-03-08")).toEqual(["2026-03-08T05:00:00.000Z", "2026-03-09T04:00:00.000Z"]);
    for (const day of ["", "2026-02-30", "2026-13-01", "275760-09-12"]) expect(bounds(day)).toEqual(["", ""]);
    expect(bounds("9999-12-31")).toEqual(["9999-12-31T05:00:00.000Z", ""]);
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

test("durations", () => {
  const at = (seconds: number) => new Date(seconds * 1000).toISOString();
  const texts = [0, 0.44, 9.5, 42, 125].map((seconds) => formatElapsed(at(100), at(100 + seconds)));
  expect(texts).toEqual(["less than 0.1 s", "0.4 s", "9.5 s", "42 s", "2:05"]);
});

test("every type of notification has a text and leads somewhere", () => {
  for (const [type, payload] of Object.entries(PAYLOADS)) {
    const text = describeNotification({ type, payload } as unknown as Notification);
    expect(text.href).toStartWith("/");
    for (const shown of [text.title, text.detail]) expect(shown).not.toMatch(/undefined|null/);
  }
});

test("licenses are read from one text", () => {
  const line = `\n${"-".repeat(100)}\n\n`;
  const all = [
    "Notes\n",
    "Apache",
    "GPL",
    "preact 11.2.0\nLicense: MIT\nhttps://preactjs.com\n\nThe text\n",
    "x 1",
  ].join(line);
  const { notes, licenses } = statusPage.readLicenses(all);
  expect(notes).toBe("Notes");
  expect(licenses.map(({ name }) => name)).toEqual(["Offcut", "ffmpeg", "preact 11.2.0", "x 1"]);
  expect(licenses[2]).toEqual({ name: "preact 11.2.0", facts: "MIT, https://preactjs.com", text: "The text" });
  expect(licenses[3]).toEqual({ name: "x 1", facts: "", text: "" });
});

test("a file that is too small is refused in plain words", () => {
  const response = { getStatus: () => 400, getBody: () => '{"detail":"size_bytes must be at least 64."}' };
  const error = Object.assign(Object.create(DetailedError.prototype) as DetailedError, { originalResponse: response });
  expect(uploadMessages.toUploadMessage(error)).toBe("This file is empty or damaged. Choose another one.");
});

describe("limits of uploads", () => {
  const file = (name: string, size: number) => ({ name, size });
  const limits = { max_bytes: 100e9, free_bytes: 50e9 };

  test.each<[string, { name: string; size: number }[], string[], string | null]>([
    ["all fit", [file("a", 100), file("b", 50e9 - 100)], ["a", "b"], null],
    [
      "the largest",
      [file("a", 100e9)],
      ["a"],
      "Only 50\u00a0GB is free, but the file needs 100\u00a0GB. Uploads stop when the space is used up.",
    ],
    ["too large", [file("a", 1), file("b", 100e9 + 1)], ["a"], null],
    ["several too large", [file("a", 101e9), file("b", 101e9), file("c", 101e9)], [], null],
    [
      "too large together",
      [file("a", 30e9), file("b", 21e9)],
      ["a", "b"],
      "Only 50\u00a0GB is free, but the files need 51\u00a0GB. Uploads stop when the space is used up.",
    ],
    ["none", [], [], null],
  ])("%s", (_what, files, names, warning) => {
    const checked = uploadLimits.checkSizes(files, limits);
    expect([checked.kept.map(({ name }) => name), checked.warning]).toEqual([names, warning]);
    expect([...checked.kept, ...checked.large].toSorted()).toEqual(files.toSorted());
  });

  test.each([
    [{ max_bytes: 100e9, free_bytes: 1e12 }, /others, up to 100\u00a0GB a file$/],
    [limits, /others, up to 100\u00a0GB a file · 50\u00a0GB free$/],
    [{ ...limits, free_bytes: 0 }, /^There is no free space/],
  ])("%o as a sentence", (given, expected) => expect(uploadLimits.describeLimits(given)).toMatch(expected));
});
