/**
 * A child that speaks the engine's protocol without a recogniser, for tests of the engine: `bun fake-process.ts [FILE]`, FILE gets a line
 * for each start. What it does with an order is in the order's path: `answer`, `crash`, `crash-twice`, `hang`, `wait` (until cancelled), `fail`, `slow`,
 * `long:MS` (can be paused), `deaf:MS` (cannot).
 */
import { appendFileSync, readFileSync } from "node:fs";
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
const say = (answer: SpeechEvent) => send(encodeMessage(answer));
const crash = () => process.kill(process.pid, "SIGKILL");

function answer(order: SpeechTask): void {
  const { id } = order;
  note(`done ${order.path}`);
  if (order.order === "force") {
    const forced = order.requests.map((r) => ({ words: [], meanLogProb: -r.text.length, tailLogProb: 0 }));
    say({ answer: "forced", id, forced });
    return;
  }
  say({ answer: "progress", id, share: 0.5 });
  say({ answer: "progress", id, share: 0.25 });
  send(encodeEnergy(id, Float32Array.of(-10, -20.5, -100)));
  const transcript = order.language === null ? null : { language: order.language, words: [], utterances: [] };
  say({ answer: "listened", id, duration: 15_000, speech: [{ start: 0, end: 5_000 }], transcript });
}

/** Orders that are at work for the milliseconds in their path, `long:300`, and can be paused; a `deaf` one does not pause. */
const long = new Map<number, LongOrder>();
type LongOrder = { order: SpeechTask; leftMs: number; since: number; timer: Timer | undefined };

function proceed(held: LongOrder): void {
  held.since = performance.now();
  held.timer = setTimeout(() => {
    long.delete(held.order.id);
    answer(held.order);
  }, held.leftMs);
}

function pause(held: LongOrder): void {
  if (held.order.path.startsWith("deaf")) return;
  clearTimeout(held.timer);
  held.leftMs -= performance.now() - held.since;
  say({ answer: "paused", id: held.order.id });
}

for await (const frame of readIpcFrames(Bun.stdin.stream())) {
  if (frame.kind !== "message" || !("order" in frame.message)) continue;
  const order = frame.message;
  if (!("path" in order)) {
    const held = long.get(order.id);
    note(held ? `${order.order} ${held.order.path}` : order.order);
    if (order.order === "cancel") {
      clearTimeout(held?.timer);
      say({ answer: "failed", id: order.id, message: "cancelled" });
    } else if (held) (order.order === "pause" ? pause : proceed)(held);
    continue;
  }
  const [doing] = order.path.split(":");
  note(`order ${order.path}`);
  if (doing === "crash") crash();
  else if (doing === "crash-twice") {
    const tries = readFileSync(journal!, "utf8")
      .split("\n")
      .filter((line) => line === `order ${order.path}`);
    if (tries.length <= 2) crash();
    else answer(order);
  } else if (doing === "hang") {
    for (;;) Bun.sleepSync(1_000);
  } else if (doing === "long" || doing === "deaf") {
    const held = { order, leftMs: Number(order.path.split(":")[1]), since: 0, timer: undefined };
    long.set(order.id, held);
    proceed(held);
  } else if (doing === "fail") say({ answer: "failed", id: order.id, message: "no such file" });
  else if (doing === "slow") setTimeout(() => answer(order), 150);
  else if (doing !== "wait") answer(order);
}
process.exit(0);
