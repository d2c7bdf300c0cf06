/** The thread that `loadThreadedGraph` starts. Its first message names the graph, the others are runs. */
import { parentPort } from "node:worker_threads";
import { setNativeFolder } from "../lib/native";
import { type Graph, loadGraph } from "./onnx-session";
import type { GraphRun, ThreadedGraphFile, ThreadReply } from "./threaded-graph";

let loading: Promise<Graph> | null = null;

const send = (reply: ThreadReply, memory: ArrayBuffer[] = []) => parentPort!.postMessage(reply, memory);

parentPort!.on("message", async (message: ThreadedGraphFile | GraphRun) => {
  const { id } = message;
  try {
    if ("path" in message) {
      if (message.nativeFolder !== null) setNativeFolder(message.nativeFolder);
      loading = loadGraph(message.path, message.threads);
      await loading;
      return send({ id });
    }
    const outputs = await (await loading!).run(message.feeds);
    const memory = Object.values(outputs).map(({ values }) => values.buffer as ArrayBuffer);
    send({ id, outputs }, memory);
  } catch (error) {
    send({ id, error: String(error) });
  }
});
