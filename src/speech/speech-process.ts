/** A running child of the engine, seen from the parent. */
import type { ForcedAlignment, SpeechAnalysis } from "../domain/speech";
import { spawnChild } from "../lib/process";
import { encodeMessage, readIpcFrames, type SpeechCommand, type SpeechEvent, type SpeechTask } from "./ipc-protocol";

/** How an order ended: with its result, with a message, or with the child's end. */
export type TaskOutcome =
  | { ended: "listened"; listening: SpeechAnalysis }
  | { ended: "forced"; forced: ForcedAlignment[] }
  | { ended: "failed"; message: string }
  | { ended: "crashed"; detail: string };

export type SpeechProcess = {
  pid: number;
  /** Gives an order; never rejects. */
  run(order: SpeechTask, listener: TaskListener): Promise<TaskOutcome>;
  /** Asks the child to hold an order at its next safe point, with its state in memory; `onPaused` says when it does. */
  pause(id: number): void;
  /** Lets a paused order go on. */
  resume(id: number): void;
  /** Asks the child to leave an order, whose outcome follows soon. */
  cancel(id: number): void;
  /** Resolves when the child has gone. */
  exited: Promise<void>;
  /** Lets the child go: it leaves by itself when its input is closed. */
  close(): Promise<void>;
  kill(): Promise<void>;
};

export type TaskListener = { onProgress: (share: number) => void; onPaused: () => void; onSaved: () => void };

type PendingTask = TaskListener & { settle: (outcome: TaskOutcome) => void };

/** Starts a child. `command` is its whole argument list. */
export function startSpeechProcess(command: string[], env: Record<string, string>): SpeechProcess {
  const child = spawnChild({ command, env, stdin: "pipe", stdout: "pipe" });
  const pending = new Map<number, PendingTask>();
  const energies = new Map<number, Float32Array>();

  const take = (answer: SpeechEvent) => {
    const order = pending.get(answer.id);
    if (!order) return;
    if (answer.answer === "progress") {
      order.onProgress(answer.share);
      return;
    }
    if (answer.answer === "paused" || answer.answer === "saved") {
      if (answer.answer === "paused") order.onPaused();
      else order.onSaved();
      return;
    }
    const energy = energies.get(answer.id) ?? new Float32Array(0);
    energies.delete(answer.id);
    pending.delete(answer.id);
    order.settle(toTaskOutcome(answer, energy));
  };
  const reading = (async () => {
    for await (const frame of readIpcFrames(child.stdout)) {
      if (frame.kind === "energy") energies.set(frame.id, frame.energy);
      else if ("answer" in frame.message) take(frame.message);
    }
  })().catch(() => child.kill());
  const exited = Promise.all([child.exited, reading]).then(([exit]) => {
    const detail = `code ${exit.code}, signal ${exit.signal}: ${child.stderrTail().trim().slice(-500)}`;
    for (const order of pending.values()) order.settle({ ended: "crashed", detail });
    pending.clear();
  });
  const say = (order: SpeechCommand) => {
    // A child that has gone is noticed by its exit.
    child.stdin.write(encodeMessage(order)).catch(() => {});
  };
  return {
    pid: child.pid,
    exited,
    run: (order, listener) =>
      new Promise((settle) => {
        pending.set(order.id, { ...listener, settle });
        say(order);
      }),
    pause: (id) => say({ order: "pause", id }),
    resume: (id) => say({ order: "resume", id }),
    cancel: (id) => say({ order: "cancel", id }),
    async close() {
      await child.stdin.end().catch(() => {});
      const timer = setTimeout(() => void child.kill(), MAX_EXIT_MS);
      await exited;
      clearTimeout(timer);
    },
    kill: () => child.kill(),
  };
}

/** How long a child may take to leave by itself. */
const MAX_EXIT_MS = 3_000;

function toTaskOutcome(
  answer: Exclude<SpeechEvent, { answer: "progress" | "paused" | "saved" }>,
  energy: Float32Array,
): TaskOutcome {
  switch (answer.answer) {
    case "listened": {
      const { duration, speech, transcript } = answer;
      return { ended: "listened", listening: { duration, speech, energy, transcript } };
    }
    case "forced":
      return { ended: "forced", forced: answer.forced };
    case "failed":
      return { ended: "failed", message: answer.message };
  }
}
