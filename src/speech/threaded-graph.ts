/** Runs a graph in a thread of its own: ONNX Runtime blocks the thread that calls it, in which no other graph can run meanwhile. */
import { Worker } from "node:worker_threads";
import { findNativeFolder } from "../lib/native";
import type { GraphInputs, TensorData } from "./onnx-session";

export type ThreadedGraphFile = { id: number; path: string; threads: number; nativeFolder: string | null };

export type GraphRun = { id: number; feeds: GraphInputs };

export type ThreadReply = { id: number; outputs?: Record<string, TensorData>; error?: string };

/** In the executable, this module is part of a chunk in the root folder, and the thread keeps its path in `src/`. */
const THREAD = new URL(
  import.meta.path.startsWith("/$bunfs/") ? "./speech/graph-thread.ts" : "./graph-thread.ts",
  import.meta.url,
);

export type ThreadedGraph = Awaited<ReturnType<typeof loadThreadedGraph>>;

/** Loads a graph from a file. */
export async function loadThreadedGraph(path: string, threads: number) {
  const thread = new Worker(THREAD);
  const pending = new Map<number, PromiseWithResolvers<ThreadReply>>();
  thread.on("message", (reply: ThreadReply) => {
    const waiting = pending.get(reply.id);
    pending.delete(reply.id);
    if (pending.size === 0) thread.unref();
    if (reply.error === undefined) waiting?.resolve(reply);
    else waiting?.reject(new Error(reply.error));
  });
  thread.on("error", (error) => {
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
    thread.unref();
  });
  let nextId = 1;
  const send = (message: Omit<ThreadedGraphFile, "id"> | Omit<GraphRun, "id">): Promise<ThreadReply> => {
    const id = nextId++;
    const reply = Promise.withResolvers<ThreadReply>();
    pending.set(id, reply);
    thread.ref();
    thread.postMessage({ ...message, id });
    return reply.promise;
  };
  await send({ path, threads, nativeFolder: findNativeFolder() });
  return {
    /** Returns all outputs by name. A run waits for those that were started before it. */
    run: async (feeds: GraphInputs): Promise<Record<string, TensorData>> => (await send({ feeds })).outputs!,
  };
}
