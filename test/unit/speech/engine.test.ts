import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SpeechEngine } from "../../../src/domain/speech";
import { createSpeechEngine, type SpeechEngineOptions } from "../../../src/speech/engine";

const FAKE = join(import.meta.dir, "fake-process.ts");
const folder = mkdtempSync(join(tmpdir(), "offcut-engine-"));
const engines: SpeechEngine[] = [];
let journals = 0;

/** An engine with the fake process, and the lines that its processes logged. */
function engine(options: Pick<SpeechEngineOptions, "idleSeconds" | "quantumMs" | "maxPausingMs"> = {}) {
  const journal = join(folder, `${journals++}`);
  const events: string[] = [];
  const made = createSpeechEngine({
    command: [process.execPath, FAKE, journal],
    log: (event) => events.push(event),
    ...options,
  });
  engines.push(made);
  return {
    engine: made,
    events,
    lines: () => (existsSync(journal) ? readFileSync(journal, "utf8").trim().split("\n") : []),
  };
}

afterEach(async () => {
  await Promise.all(engines.splice(0).map((e) => e.close()));
});

const starts = (lines: string[]) => lines.filter((line) => line.startsWith("start"));
const until = async (holds: () => boolean) => {
  while (!holds()) await Bun.sleep(2);
};

describe("the speech engine", () => {
  test("returns duration, speech, the exact energy contour and the transcript, and reports words, and progress that only grows", async () => {
    const shares: number[] = [];
    const words: unknown[] = [];
    const analysis = await engine().engine.analyze(
      { path: "answer" },
      {
        language: null,
        onProgress: (s) => shares.push(s),
        onWords: (next, from) => words.push([from, ...next.map(({ text }) => text)]),
      },
    );
    expect(analysis).toEqual({
      duration: 15_000,
      speech: [{ start: 0, end: 5_000 }],
      energy: Float32Array.of(-10, -20.5, -100),
      transcript: { language: "en", words: [], utterances: [] },
      language: null,
    });
    expect([shares, words]).toEqual([[0.5], [[0, "alpha"]]]);
  });

  test("loads its models before the first task, in the process that runs it", async () => {
    const { engine: warm, lines } = engine({ idleSeconds: 60 });
    warm.warmUp();
    warm.warmUp();
    await until(() => lines().includes("load"));
    await warm.analyze({ path: "answer" }, { language: null });
    expect(starts(lines())).toHaveLength(1);
    expect(lines().indexOf("load")).toBeLessThan(lines().indexOf("task answer"));
  });

  test("stops a process that was warmed up and got no task", async () => {
    const { engine: warm, events } = engine({ idleSeconds: 0 });
    warm.warmUp();
    await until(() => events.includes("speech.stopped"));
  });

  test.each([
    ["en", true],
    ["en-GB", true],
    ["EN", true],
    [null, true],
    ["de", false],
    ["enm", false],
  ])(
    "without models it transcribes only English and returns no transcript for other languages: %p",
    async (language, known) => {
      const { engine: speech } = engine();
      expect(speech.canTranscribe(language)).toBe(known);
      const { transcript } = await speech.analyze({ path: "answer" }, { language });
      expect(transcript !== null).toBe(known);
    },
  );

  test("aligns in the order of the requests, and starts no process without requests", async () => {
    const { engine: speech, events } = engine();
    const window = { start: 0, end: 1 };
    expect(await speech.forcedAlign({ path: "answer" }, [])).toEqual([]);
    expect(events).toEqual([]);
    const forced = await speech.forcedAlign({ path: "answer" }, [
      { window, text: "four" },
      { window, text: "to" },
    ]);
    expect(forced.map((f) => f.meanLogProb)).toEqual([-4, -2]);
  });

  test("recognizes in the order of the requests, with the recognizer for the language", async () => {
    const { engine: speech, events } = engine();
    const requests = [{ window: { start: 5, end: 6 } }, { window: { start: 1, end: 2 } }];
    expect(await speech.recognize({ path: "answer" }, [])).toEqual([]);
    expect(events).toEqual([]);
    const recognitions = await speech.recognize({ path: "answer" }, requests);
    expect(recognitions).toEqual([
      { words: [{ text: "built-in", start: 5, end: 6, confidence: 1 }], meanLogProb: -5 },
      { words: [{ text: "built-in", start: 1, end: 2, confidence: 1 }], meanLogProb: -1 },
    ]);
    const [german] = await speech.recognize({ path: "answer" }, requests, { language: "de" });
    expect(german!.words[0]!.text).toBe("de");
  });

  test("a crashed process is replaced and the recording is retried", async () => {
    const { engine: speech, lines, events } = engine();
    const analysis = await speech.analyze({ path: "crash-twice" }, { language: "en" });
    expect(analysis.duration).toBe(15_000);
    expect(starts(lines())).toHaveLength(3);
    expect(events.filter((e) => e === "speech.crashed")).toHaveLength(2);
  });

  test("a recording that crashes the process three times fails, and the next one is processed", async () => {
    const { engine: speech, lines } = engine();
    const failing = speech.analyze({ path: "crash" }, { language: "en" });
    const next = speech.analyze({ path: "answer" }, { language: "en" });
    await expect(failing).rejects.toMatchObject({ name: "AppError", code: "processing_failed" });
    expect((await next).duration).toBe(15_000);
    expect(starts(lines())).toHaveLength(4);
  });

  test("a recording transcribed next to a crashing one does not fail with it", async () => {
    const { engine: speech } = engine();
    const analysis = speech.analyze({ path: "slow:1" }, { language: "en" });
    const forcing = speech.forcedAlign({ path: "crash" }, [{ window: { start: 0, end: 1 }, text: "x" }]);
    await expect(forcing).rejects.toMatchObject({ code: "processing_failed" });
    expect((await analysis).duration).toBe(15_000);
  });

  test("a task that the process rejects fails at once", async () => {
    const { engine: speech, lines } = engine();
    await expect(speech.analyze({ path: "fail" }, { language: "en" })).rejects.toMatchObject({
      code: "processing_failed",
    });
    expect(starts(lines())).toHaveLength(1);
  });

  test("recordings are analyzed one at a time, in order", async () => {
    const { engine: speech, lines } = engine();
    await Promise.all(["slow:1", "slow:2", "slow:3"].map((path) => speech.analyze({ path }, { language: "en" })));
    expect(lines().slice(1)).toEqual(
      ["slow:1", "slow:2", "slow:3"].flatMap((path) => [`task ${path}`, `done ${path}`]),
    );
  });

  test("an alignment does not wait for a long recording", async () => {
    const { engine: speech, lines } = engine();
    const abort = new AbortController();
    const analysis = speech.analyze({ path: "wait" }, { language: "en", signal: abort.signal });
    await speech.forcedAlign({ path: "answer" }, [{ window: { start: 0, end: 1 }, text: "x" }]);
    expect(lines()).toContain("done answer");
    abort.abort();
    await expect(analysis).rejects.toBe(abort.signal.reason);
  });

  test("aborting rejects at once with the signal's reason, and the process continues", async () => {
    const { engine: speech, lines } = engine();
    const abort = new AbortController();
    const reason = new Error("the user left");
    const analysis = speech.analyze({ path: "wait" }, { language: "en", signal: abort.signal });
    await speech.forcedAlign({ path: "answer" }, [{ window: { start: 0, end: 1 }, text: "x" }]);
    abort.abort(reason);
    await expect(analysis).rejects.toBe(reason);
    await speech.analyze({ path: "answer" }, { language: "en" });
    expect(starts(lines())).toHaveLength(1);
    expect(lines()).toContain("cancel");
  });

  test("a process that does not stop an aborted recording is killed, and the next recording gets a new one", async () => {
    const { engine: speech, lines } = engine();
    const abort = new AbortController();
    const hanging = speech.analyze({ path: "hang" }, { language: "en", signal: abort.signal });
    const next = speech.analyze({ path: "answer" }, { language: "en" });
    await Bun.sleep(0);
    abort.abort();
    await expect(hanging).rejects.toBe(abort.signal.reason);
    expect((await next).duration).toBe(15_000);
    expect(starts(lines()).length).toBeLessThanOrEqual(2);
  });

  test("a signal that is already aborted starts no task", async () => {
    const { engine: speech, events } = engine();
    const signal = AbortSignal.abort(new Error("too late"));
    await expect(speech.analyze({ path: "answer" }, { language: "en", signal })).rejects.toBe(signal.reason);
    await expect(
      speech.forcedAlign({ path: "answer" }, [{ window: { start: 0, end: 1 }, text: "x" }], { signal }),
    ).rejects.toBe(signal.reason);
    expect(events).toEqual([]);
  });

  test("an idle process stops, and starts again with the next task", async () => {
    const { engine: speech, lines, events } = engine({ idleSeconds: 0.02 });
    await speech.analyze({ path: "answer" }, { language: "en" });
    await until(() => events.includes("speech.stopped"));
    await speech.analyze({ path: "answer" }, { language: "en" });
    expect(starts(lines())).toHaveLength(2);
  });

  test("closing stops the process; running and later tasks fail", async () => {
    const { engine: speech, events } = engine();
    const analysis = speech.analyze({ path: "wait" }, { language: "en" });
    analysis.catch(() => {});
    await speech.close();
    await expect(analysis).rejects.toMatchObject({ code: "processing_failed" });
    expect(events).toContain("speech.stopped");
    await expect(speech.analyze({ path: "answer" }, { language: "en" })).rejects.toMatchObject({
      code: "processing_failed",
    });
  });

  test("a program that cannot be started fails like a crash", async () => {
    const broken = createSpeechEngine({ command: [join(folder, "no-such-program")] });
    await expect(broken.analyze({ path: "answer" }, { language: "en" })).rejects.toMatchObject({
      code: "processing_failed",
    });
    await broken.close();
  });
});

describe("fair scheduling between owners", () => {
  const analyze = (speech: SpeechEngine, path: string, owner: string) =>
    speech.analyze({ path }, { language: "en", owner });
  const force = (speech: SpeechEngine, path: string, owner: string) =>
    speech.forcedAlign({ path }, [{ window: { start: 0, end: 1 }, text: "x" }], { owner });
  const recognize = (speech: SpeechEngine, path: string, owner: string) =>
    speech.recognize({ path }, [{ window: { start: 0, end: 1 } }], { owner });
  const LONG = 1_000_000;

  test.each([
    ["analyze", analyze],
    ["force", force],
    ["recognize", recognize],
  ])(
    "a newcomer's %s is served at once, and the long one of another goes on after it in the same child",
    async (_, ask) => {
      const { engine: speech, lines } = engine();
      const first = ask(speech, "resumed:1", "anna");
      await until(() => lines().includes("task resumed:1"));
      await ask(speech, "answer", "bert");
      await first;
      expect(lines().slice(1)).toEqual([
        ...["task resumed:1", "pause resumed:1", "task answer", "done answer", "resume resumed:1", "done resumed:1"],
      ]);
    },
  );

  test("queries of one planner run in order, whatever their kind", async () => {
    const { engine: speech, lines } = engine({ quantumMs: 1 });
    await Promise.all([force(speech, "slow:1", "anna"), recognize(speech, "slow:2", "anna")]);
    expect(lines().slice(1)).toEqual(["task slow:1", "done slow:1", "task slow:2", "done slow:2"]);
  });

  test("long tasks of several owners alternate, and each owner's tasks stay in order", async () => {
    const { engine: speech, lines } = engine({ quantumMs: 5 });
    await analyze(speech, "answer", "carl");
    await Promise.all([
      analyze(speech, "resumed:1", "anna"),
      analyze(speech, "long:1", "anna"),
      analyze(speech, "resumed:2", "bert"),
    ]);
    const indexOf = (line: string) => lines().indexOf(line);
    expect(lines()).toContain("resume resumed:1");
    expect(lines()).toContain("resume resumed:2");
    expect(indexOf("done resumed:1")).toBeLessThan(indexOf("task long:1"));
    expect(indexOf("task resumed:2")).toBeLessThan(indexOf("done resumed:1"));
    expect(starts(lines())).toHaveLength(1);
  });

  test("no task is paused for another task of the same owner", async () => {
    const { engine: speech, lines } = engine({ quantumMs: 1 });
    await Promise.all([analyze(speech, "long:50", "anna"), analyze(speech, "answer", "anna")]);
    expect(lines().slice(1)).toEqual(["task long:50", "done long:50", "task answer", "done answer"]);
  });

  test("a task that never reaches a safe point does not block another owner", async () => {
    const { engine: speech } = engine();
    const abort = new AbortController();
    const deaf = speech.analyze({ path: `deaf:${LONG}` }, { language: "en", owner: "anna", signal: abort.signal });
    expect((await analyze(speech, "answer", "bert")).duration).toBe(15_000);
    abort.abort();
    await expect(deaf).rejects.toBe(abort.signal.reason);
  });

  test("a paused task is restarted when another one crashes the process, and its crash count stays 0", async () => {
    // Otherwise the two run together on a busy machine, and both are suspects.
    const { engine: speech, lines, events } = engine({ quantumMs: 200, maxPausingMs: Number.POSITIVE_INFINITY });
    const innocent = analyze(speech, "long:20", "anna");
    await until(() => lines().includes("task long:20"));
    const guilty = analyze(speech, "crash", "bert");
    await expect(guilty).rejects.toMatchObject({ code: "processing_failed" });
    expect((await innocent).duration).toBe(15_000);
    expect(events.filter((event) => event === "speech.crashed")).toHaveLength(3);
  });

  test("a paused task can be aborted, and the process continues", async () => {
    const { engine: speech, lines } = engine();
    const abort = new AbortController();
    const paused = speech.analyze({ path: `long:${LONG}` }, { language: "en", owner: "anna", signal: abort.signal });
    await until(() => lines().includes(`task long:${LONG}`));
    const other = analyze(speech, "long:50", "bert");
    await until(() => lines().includes("task long:50"));
    abort.abort();
    await expect(paused).rejects.toBe(abort.signal.reason);
    await other;
    expect(starts(lines())).toHaveLength(1);
  });
});
