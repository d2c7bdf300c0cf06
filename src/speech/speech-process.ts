/** A running speech process, as seen by the server. */
import type { AnalyzeOptions, ForcedAlignment, Recognition, SpeechAnalysis } from "../domain/speech";
import { PROGRAM_ENV, spawnChild } from "../lib/process";
import { encodeMessage, readIpcFrames, type SpeechCommand, type SpeechEvent, type SpeechTask } from "./ipc-protocol";

/** Maximum length of the message of a failed task. */
const MAX_MESSAGE_CHARACTERS = 1_000;

/** Outcome of a task: its result, an error message, or the end of the process. */
export type TaskOutcome =
  | { status: "analyzed"; analysis: SpeechAnalysis }
  | { status: "aligned"; alignments: ForcedAlignment[] }
  | { status: "recognized"; recognitions: Recognition[] }
  | { status: "failed"; message: string }
  | { status: "crashed"; detail: string };

export type TaskListener = Required<Pick<AnalyzeOptions, "onProgress" | "onSaved" | "onWords">> & {
  onPaused: () => void;
};

type PendingTask = TaskListener & { settle: (outcome: TaskOutcome) => void };

/** ONNX Runtime keeps a database of telemetry and sends it to Microsoft unless this is set. */
const RUNTIME_ENV = { ORT_DISABLE_TELEMETRY: "1" };

/** Starts a speech process. `command` is the complete argument list. */
export function startSpeechProcess(command: string[], env: Record<string, string>) {
  const child = spawnChild({ command, env: { ...PROGRAM_ENV, ...RUNTIME_ENV, ...env }, stdin: "pipe", stdout: "pipe" });
  const pending = new Map<number, PendingTask>();
  const energyById = new Map<number, Float32Array>();

  const handle = (event: SpeechEvent) => {
    const task = pending.get(event.id);
    if (!task) return;
    if (event.event === "progress") return task.onProgress(event.share);
    if (event.event === "paused") return task.onPaused();
    if (event.event === "saved") return task.onSaved();
    if (event.event === "words") return task.onWords(event.words, event.from);
    const energy = energyById.get(event.id) ?? new Float32Array(0);
    energyById.delete(event.id);
    pending.delete(event.id);
    task.settle(toTaskOutcome(event, energy));
  };
  const reading = (async () => {
    for await (const frame of readIpcFrames(child.stdout)) {
      if (frame.kind === "energy") energyById.set(frame.id, frame.energy);
      else if ("event" in frame.message) handle(frame.message);
    }
  })().catch(() => child.kill());
  const exited = Promise.all([child.exited, reading]).then(([exit]) => {
    const detail = `code ${exit.code}, signal ${exit.signal}: ${child.stderrTail().trim().slice(-500)}`;
    for (const task of pending.values()) task.settle({ status: "crashed", detail });
    pending.clear();
  });
  const send = (command: SpeechCommand) => {
    // If the process has ended, `exited` reports it.
    child.stdin.write(encodeMessage(command)).catch(() => {});
  };
  return {
    pid: child.pid,
    exited,
    /** Loads the models before the first task needs them. */
    load: () => send({ command: "load" }),
    /** Runs a task. Never rejects. */
    run: (task: SpeechTask, listener: TaskListener): Promise<TaskOutcome> =>
      new Promise((settle) => {
        pending.set(task.id, { ...listener, settle });
        send(task);
      }),
    /** Pauses a task at its next safe point, with its state in memory. `onPaused` is called when it has paused. */
    pause: (id: number) => send({ command: "pause", id }),
    resume: (id: number) => send({ command: "resume", id }),
    /** Cancels a task. It then ends soon. */
    cancel: (id: number) => send({ command: "cancel", id }),
    /** Closes the input of the process, which then ends by itself. Kills it if it does not. */
    async close(): Promise<void> {
      await child.stdin.end().catch(() => {});
      const timer = setTimeout(() => void child.kill(), MAX_EXIT_MS);
      await exited;
      clearTimeout(timer);
    },
    kill: () => child.kill(),
  };
}

export type SpeechProcess = ReturnType<typeof startSpeechProcess>;

/** Time that the process has to end by itself. */
const MAX_EXIT_MS = 3_000;

function toTaskOutcome(
  event: Exclude<SpeechEvent, { event: "progress" | "paused" | "saved" | "words" }>,
  energy: Float32Array,
): TaskOutcome {
  switch (event.event) {
    case "analyzed": {
      const { duration, speech, transcript, language = null } = event;
      return { status: "analyzed", analysis: { duration, speech, energy, transcript, language } };
    }
    case "aligned":
      return { status: "aligned", alignments: event.alignments };
    case "recognized":
      return { status: "recognized", recognitions: event.recognitions };
    case "failed":
      return { status: "failed", message: String(event.message).slice(0, MAX_MESSAGE_CHARACTERS) };
  }
}
