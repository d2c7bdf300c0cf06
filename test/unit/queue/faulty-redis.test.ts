/** A server at the address of Redis that violates its protocol: nothing accumulates, and the log names the problem. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { createLog } from "../../../src/lib/log";
import { openTicketQueues } from "../../../src/queue/bullmq";
import { openRedis, probeRedis } from "../../../src/queue/bullmq-connection";
import { openTicketQueue } from "../../../src/queue/bullmq-worker";
import { until } from "../../until";

setDefaultTimeout(60_000);

const CHUNK = Buffer.alloc(1024 ** 2, "x");

/** Sends without end, as fast as the other side reads, until it closes. */
function flood(socket: Socket, start: string, chunk: Buffer): void {
  socket.write(start);
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", more);
  more();
}

const FAULTS: [string, string, (socket: Socket) => void][] = [
  ["answers unasked", "unasked_reply", (socket) => flood(socket, "", Buffer.from("+OK\r\n".repeat(10_000)))],
  ["sends a text without end", "endless_reply", (socket) => flood(socket, "$9999999999\r\n", CHUNK)],
  ["sends a line without end", "endless_reply", (socket) => flood(socket, "+", CHUNK)],
  [
    "sends messages of no channel",
    "endless_reply",
    (socket) => flood(socket, "", Buffer.from(">1\r\n+x\r\n".repeat(1e5))),
  ],
];

/** Listens on a free port. The fault follows the first command. */
async function listen(onCommand: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const state = { closed: 0, sent: 0 };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      state.closed++;
      state.sent = Math.max(state.sent, socket.bytesWritten);
    });
    socket.once("data", () => onCommand(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    state,
    send: (text: string) => {
      for (const socket of sockets) socket.write(text);
    },
    url: `redis://127.0.0.1:${(server.address() as { port: number }).port}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test.each(FAULTS)("a server that %s is disconnected", async (_, code, fault) => {
  await using server = await listen(fault);
  const address = { url: server.url, ca: null };
  const log: string[] = [];
  const keep = createLog((line) => log.push(line), false);
  const queues = openTicketQueues(address, keep);
  const worker = openTicketQueue(address, { queue: "offcut-worker-test", slots: 1, log: keep }, async () => {});
  try {
    await until("connections that were closed", () => server.state.closed >= 4);
    await until("the reason", () => log.filter((line) => line.includes(`"code":"${code}"`)).length >= 2);
    expect(queues.isReachable()).toBe(false);
    expect(server.state.sent).toBeLessThan(64 * 1024 ** 2);
    await expect(probeRedis(address)).rejects.toThrow("does not speak the protocol of Redis");
  } finally {
    await worker.close();
    await queues.close();
  }
});

test("half a reply that nobody has asked for is not kept for the next command", async () => {
  await using server = await listen((socket) => {
    // For HELLO and two CLIENT SETINFO.
    socket.write("%0\r\n+OK\r\n+OK\r\n");
    socket.on("data", () => socket.write("+PONG\r\n"));
  });
  const redis = openRedis({ url: server.url, ca: null }, { enableReadyCheck: false, retryStrategy: () => null });
  redis.on("error", () => {});
  try {
    expect(await redis.ping()).toBe("PONG");
    server.send("+O");
    await until("the end of the connection", () => server.state.closed === 1, 10);
  } finally {
    redis.disconnect();
  }
});
