/** A running child of the engine, seen from the parent. */
import type { ForcedAlignment, SpeechAnalysis } from "../domain/speech";
import { spawnChild } from "../lib/process";
import { type Answer, messageFrame, type Order, readFrames, type WorkOrder } from "./frames";

/** How an order ended: with its result, with a message, or with the child's end. */
export type Outcome =
  | { ended: "listened"; listening: SpeechAnalysis }
  | { ended: "forced"; forced: ForcedAlignment[] }
  | { ended: "failed"; message: string }
  | { ended: "crashed"; detail: string };

export type SpeechChild = {
  pid: number;
  /** Gives an order; never rejects. */
  run(order: WorkOrder, listener: OrderListener): Promise<Outcome>;
  /** Asks the child to hold an order at its next safe point, with its state in memory; `onPaused` says when it does. */
  pause(id: number): void;
  /** Lets a paused order go on. */
  resume(id: number): void;
  /** Asks the child to leave an order, whose outcome follows soon. */
  cancel(id: number): void;
  /** Resolves when the child has gone. */
  exited: Promise<void>;
  /** Lets the child go: it leaves by itself when its input is closed. */
  end(): Promise<void>;
  kill(): Promise<void>;
};

export type OrderListener = { onProgress: (share: number) => void; onPaused: () => void; onSaved: () => void };

type Pending = OrderListener & { settle: (outcome: Outcome) => void };

/** Starts a child. `command` is its whole argument list. */
export function startSpeechChild(command: string[], env: Record<string, string>): SpeechChild {
  const child = spawnChild({ command, env, stdin: "pipe", stdout: "pipe" });
  const pending = new Map<number, Pending>();
  const energies = new Map<number, Float32Array>();

  const take = (answer: Answer) => {
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
    order.settle(outcomeOf(answer, energy));
  };
  const reading = (async () => {
    for await (const frame of readFrames(child.stdout)) {
      if (frame.kind === "energy") energies.set(frame.id, frame.energy);
      else if ("answer" in frame.message) take(frame.message);
    }
  })().catch(() => child.kill());
  const exited = Promise.all([child.exited, reading]).then(([exit]) => {
    const detail = `code ${exit.code}, signal ${exit.signal}: ${child.stderrTail().trim().slice(-500)}`;
    for (const order of pending.values()) order.settle({ ended: "crashed", detail });
    pending.clear();
  });
  const say = (order: Order) => {
    // A child that has gone is noticed by its exit.
    child.stdin.write(messageFrame(order)).catch(() => {});
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
    async end() {
      await child.stdin.end().catch(() => {});
      const timer = setTimeout(() => void child.kill(), LEAVE_MS);
      await exited;
      clearTimeout(timer);
    },
    kill: () => child.kill(),
  };
}

/** How long a child may take to leave by itself. */
const LEAVE_MS = 3_000;

function outcomeOf(
  answer: Exclude<Answer, { answer: "progress" | "paused" | "saved" }>,
  energy: Float32Array,
): Outcome {
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
