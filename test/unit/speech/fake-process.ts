/**
 * A speech process without a recognizer, for tests of the engine: `bun fake-process.ts [FILE]`. It appends a line to
 * FILE for each start and command. The path of a task selects its behavior: `answer`, `crash`, `crash-twice`, `hang`,
 * `wait` (until cancelled), `fail`, `slow`, `long:MS` (can be paused), `deaf:MS` (cannot be paused), `resumed:NAME` (is
 * complete when it has been paused and resumed).
 */
import { appendFileSync, readFileSync } from "node:fs";
import type { Span } from "../../../src/domain/time";
import {
  encodeEnergy,
  encodeMessage,
  readIpcFrames,
  type SpeechEvent,
  type SpeechTask,
} from "../../../src/speech/ipc-protocol";

const journal = process.argv[2];
const note = (line: string) => journal && appendFileSync(journal, `${line}\n`);
note(`start ${process.pid}`);

const output = Bun.stdout.writer();
const send = (bytes: Uint8Array) => {
  output.write(bytes);
  void output.flush();
};
const emit = (event: SpeechEvent) => send(encodeMessage(event));
const crash = () => process.kill(process.pid, "SIGKILL");

function complete(task: SpeechTask): void {
  const { id } = task;
  note(`done ${task.path}`);
  if (task.command === "align") {
    const alignments = task.requests.map((r) => ({ words: [], meanLogProb: -r.text.length, tailLogProb: 0 }));
    emit({ event: "aligned", id, alignments });
    return;
  }
  if (task.command === "recognize") {
    const toWord = (window: Span) => ({ text: task.language ?? "built-in", ...window, confidence: 1 });
    const recognitions = task.requests.map(({ window }) => ({ words: [toWord(window)], meanLogProb: -window.start }));
    emit({ event: "recognized", id, recognitions });
    return;
  }
  emit({ event: "progress", id, share: 0.5 });
  emit({ event: "progress", id, share: 0.25 });
  emit({ event: "words", id, from: 0, words: [{ text: "alpha", start: 0, end: 5_000, confidence: 1 }] });
  send(encodeEnergy(id, Float32Array.of(-10, -20.5, -100)));
  const transcript = task.language === null ? null : { language: task.language, words: [], utterances: [] };
  emit({ event: "analyzed", id, duration: 15_000, speech: [{ start: 0, end: 5_000 }], transcript });
}

/**
 * Tasks that run for the milliseconds in their path, such as `long:300`, and can be paused. A `deaf` task does not
 * pause.
 */
const long = new Map<number, LongTask>();
type LongTask = { task: SpeechTask; leftMs: number; since: number; timer: Timer | undefined };

function proceed(held: LongTask): void {
  if (held.leftMs === Number.POSITIVE_INFINITY) return;
  held.since = performance.now();
  held.timer = setTimeout(() => {
    long.delete(held.task.id);
    complete(held.task);
  }, held.leftMs);
}

function pause(held: LongTask): void {
  if (held.task.path.startsWith("deaf")) return;
  clearTimeout(held.timer);
  held.leftMs = held.task.path.startsWith("resumed") ? 0 : held.leftMs - (performance.now() - held.since);
  emit({ event: "paused", id: held.task.id });
}

for await (const frame of readIpcFrames(Bun.stdin.stream())) {
  if (frame.kind !== "message" || !("command" in frame.message)) continue;
  const command = frame.message;
  if (command.command === "load") {
    note("load");
    continue;
  }
  if (!("path" in command)) {
    const held = long.get(command.id);
    note(held ? `${command.command} ${held.task.path}` : command.command);
    if (command.command === "cancel") {
      clearTimeout(held?.timer);
      emit({ event: "failed", id: command.id, message: "cancelled" });
    } else if (held) (command.command === "pause" ? pause : proceed)(held);
    continue;
  }
  const task = command;
  const [doing] = task.path.split(":");
  note(`task ${task.path}`);
  if (doing === "crash") crash();
  else if (doing === "crash-twice") {
    const tries = readFileSync(journal!, "utf8")
      .split("\n")
      .filter((line) => line === `task ${task.path}`);
    if (tries.length <= 2) crash();
    else complete(task);
  } else if (doing === "hang") {
    for (;;) Bun.sleepSync(1_000);
  } else if (doing === "long" || doing === "deaf" || doing === "resumed") {
    const leftMs = doing === "resumed" ? Number.POSITIVE_INFINITY : Number(task.path.split(":")[1]);
    const held = { task, leftMs, since: 0, timer: undefined };
    long.set(task.id, held);
    proceed(held);
  } else if (doing === "fail") emit({ event: "failed", id: task.id, message: "no such file" });
  else if (doing === "slow") setTimeout(() => complete(task), 150);
  else if (doing !== "wait") complete(task);
}
process.exit(0);
