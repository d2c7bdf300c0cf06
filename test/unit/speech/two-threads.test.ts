/** The real recognizer in two threads: the same results as in one, and what happens when a thread fails. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { SpeechEngine } from "../../../src/domain/speech";
import type { Span } from "../../../src/domain/time";
import { createSpeechEngine } from "../../../src/speech/engine";
import { speechDir } from "./graphs";
import { concatenated, pcmFile, realRecording, silence } from "./test-audio";

let recording: Float32Array;
let engine: SpeechEngine;

beforeAll(async () => {
  recording = await realRecording();
  engine = createSpeechEngine({
    command: [process.execPath, join(import.meta.dir, "process-entry.ts"), await speechDir()],
  });
});
afterAll(() => engine.close());

const at = (start: number, end: number): Span => ({ start: start * 1e6, end: end * 1e6 });

// With one core, the process starts no second recognizer.
test.skipIf(navigator.hardwareConcurrency === 1).each([
  ["when it starts", []],
  ["while it works", ["700"]],
])(
  "an error in the thread of the second recognizer, %s, ends the process and then the task",
  async (_, delay) => {
    const failures: string[] = [];
    const failing = createSpeechEngine({
      command: [process.execPath, join(import.meta.dir, "failing-second-recognizer.ts"), await speechDir(), ...delay],
      log: (event, fields) => {
        if (event === "speech.crashed") failures.push(String((fields as { detail: string }).detail));
      },
    });
    const long = concatenated(...Array.from({ length: 40 }, () => recording));
    const analysis = failing.analyze(await pcmFile(long), { language: "en" });
    await expect(analysis).rejects.toMatchObject({ code: "processing_failed" });
    expect(failures).toEqual(Array.from({ length: 3 }, () => expect.stringContaining("no second recognizer today")));
    await failing.close();
  },
  60_000,
);

test.skipIf(navigator.hardwareConcurrency === 1)(
  "the second recognizer takes no further windows while none of its steps is confirmed, as in a paused task",
  async () => {
    const command = [process.execPath, join(import.meta.dir, "blocked-steps.ts"), await speechDir()];
    const output = await new Response(Bun.spawn(command, { stdout: "pipe" }).stdout).text();
    // One that is stuck in the first thread, and two that were sent.
    expect(Number(output)).toBe(3);
  },
  60_000,
);

test("results with one thread and with two are the same", async () => {
  const single = createSpeechEngine({
    command: [process.execPath, join(import.meta.dir, "one-thread-process.ts"), await speechDir()],
  });
  // Segments of many lengths, in several batches.
  const parts = Array.from({ length: 18 }, (_, n) => [
    recording.subarray(0, 16_000 * (1 + ((n * 7) % 10))),
    silence(0.8),
  ]);
  const file = await pcmFile(concatenated(...parts.flat()));
  const windows = Array.from({ length: 6 }, (_, n) => at(9 * n + 1, 9 * n + 2 + ((n * 5) % 7)));
  const texts = ["and so my fellow americans", "ask not what your country can do for you", ""];
  const requests = windows.flatMap((window) => texts.map((text) => ({ window, text })));
  const run = async (used: SpeechEngine) => {
    const analysis = await used.analyze(file, { language: "en" });
    const aligned = await used.forcedAlign(file, requests);
    const alignedAgain = await used.forcedAlign(file, requests.toReversed());
    const recognized = await used.recognize(
      file,
      windows.map((window) => ({ window })),
    );
    return JSON.stringify([{ ...analysis, energy: [...analysis.energy] }, aligned, alignedAgain, recognized]);
  };
  const [one, two] = [await run(single), await run(engine)];
  await single.close();
  expect(two).toBe(one);
}, 60_000);
