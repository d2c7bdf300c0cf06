/** A network that fails on request: a TCP proxy with partitions, refused connections, delays and losses. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Random } from "./random";

/** Direction of bytes: from the client to the server, or back. */
export type Direction = "to_server" | "to_client";

export type TcpProxy = AsyncDisposable & {
  port: number;
  /** Bytes that were passed on since the start. */
  bytes: Record<Direction, number>;
  /** Connections that are open now. */
  openConnections(): number;
  /**
   * Connections stay open and silent, new ones too. Nothing is lost: bytes sent in the meantime arrive after `heal`.
   */
  partition(direction?: Direction): void;
  /** Cuts all connections and refuses new ones. */
  refuse(): Promise<void>;
  /** Cuts all connections; new ones work. */
  cut(): void;
  /** Each piece of data arrives this much later. */
  delay(ms: number): void;
  /** Each connection, also those that are open, is cut after a random number of bytes, twice `meanBytes` at most. */
  lose(meanBytes: number, random: Random): void;
  /** Ends all faults. */
  heal(): Promise<void>;
  /** New connections are passed on to another address: the server was restarted on another port. */
  retarget(target: ProxyTarget): void;
};

/** A port of the loopback address, or the path of a Unix socket. */
export type ProxyTarget = number | string;

type Network = {
  target: ProxyTarget;
  frozen: Set<Direction>;
  delayMs: number;
  /** Returns how many bytes a connection may carry. */
  drawBudget: () => number;
  bytes: Record<Direction, number>;
};

type Connection = { cut(): void; wake(): void; drawBudget(): void };

const HOST = "127.0.0.1";
/** Maximum number of bytes in transit in one direction of a delayed connection. */
const MAX_QUEUED_BYTES = 1024 ** 2;

/** Listens on a free port of the loopback address, and passes connections on to `target`. */
export async function startTcpProxy(target: ProxyTarget): Promise<TcpProxy> {
  const network: Network = {
    target,
    frozen: new Set(),
    delayMs: 0,
    drawBudget: () => Number.POSITIVE_INFINITY,
    bytes: { to_server: 0, to_client: 0 },
  };
  const connections = new Set<Connection>();
  const open = (client: Socket) => {
    const connection = openConnection(client, network, () => connections.delete(connection));
    connections.add(connection);
  };
  let server: Server | null = await listen(0, open);
  const address = server.address() as AddressInfo;
  const cut = () => {
    for (const connection of [...connections]) connection.cut();
  };
  const close = async () => {
    const closing = server;
    server = null;
    const closed = new Promise<void>((resolve) => (closing === null ? resolve() : closing.close(() => resolve())));
    cut();
    await closed;
  };
  return {
    port: address.port,
    bytes: network.bytes,
    openConnections: () => connections.size,
    partition: (direction) => {
      for (const each of direction ? [direction] : (["to_server", "to_client"] as const)) network.frozen.add(each);
    },
    refuse: close,
    cut,
    delay: (ms) => {
      network.delayMs = ms;
    },
    lose: (meanBytes, random) => {
      network.drawBudget = () => random(2 * meanBytes);
      for (const connection of connections) connection.drawBudget();
    },
    heal: async () => {
      network.frozen.clear();
      network.delayMs = 0;
      network.drawBudget = () => Number.POSITIVE_INFINITY;
      for (const connection of connections) {
        connection.drawBudget();
        connection.wake();
      }
      server ??= await listen(address.port, open);
    },
    retarget: (moved) => {
      network.target = moved;
    },
    [Symbol.asyncDispose]: close,
  };
}

function listen(port: number, open: (client: Socket) => void): Promise<Server> {
  const server = createServer(open);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, HOST, () => resolve(server));
  });
}

function openConnection(client: Socket, network: Network, onClosed: () => void): Connection {
  let budget = network.drawBudget();
  let isCut = false;
  const { target } = network;
  const server = typeof target === "string" ? connect(target) : connect(target, HOST);
  const cut = () => {
    if (isCut) return;
    isCut = true;
    client.destroy();
    server.destroy();
    onClosed();
  };
  /** Returns how many of these bytes may still pass. */
  const spend = (bytes: number): number => {
    const allowed = Math.min(bytes, budget);
    budget -= allowed;
    return allowed;
  };
  const pipes = [
    openPipe({ from: client, to: server, direction: "to_server" }, network, { spend, cut }),
    openPipe({ from: server, to: client, direction: "to_client" }, network, { spend, cut }),
  ];
  return {
    cut,
    wake: () => {
      for (const pipe of pipes) pipe.wake();
    },
    drawBudget: () => {
      budget = network.drawBudget();
    },
  };
}

type Ends = { from: Socket; to: Socket; direction: Direction };
/** `bytes` null: the end of the connection. */
type Waiting = { due: number; bytes: Buffer | null };

/** Forwards the bytes and the end of one direction in order, while the network allows it. */
function openPipe(
  { from, to, direction }: Ends,
  network: Network,
  { spend, cut }: { spend(bytes: number): number; cut(): void },
): { wake(): void } {
  const queue: Waiting[] = [];
  let queuedBytes = 0;
  let timer: Timer | undefined;
  let isFull = false;

  // The sender notices that nothing is received, as it would without a network.
  const isHeldBack = () => isFull || network.frozen.has(direction) || queuedBytes > MAX_QUEUED_BYTES;
  const wake = () => {
    clearTimeout(timer);
    while (queue.length > 0 && !isFull && !network.frozen.has(direction)) {
      const wait = queue[0]!.due - performance.now();
      if (wait > 0) {
        timer = setTimeout(wake, wait);
        return;
      }
      const { bytes } = queue.shift()!;
      if (bytes === null) return cut();
      queuedBytes -= bytes.length;
      pass(bytes);
    }
    if (!isHeldBack()) from.resume();
  };
  const pass = (bytes: Buffer) => {
    const allowed = spend(bytes.length);
    network.bytes[direction] += allowed;
    isFull = !to.write(bytes.subarray(0, allowed), allowed < bytes.length ? cut : undefined);
  };
  const push = (bytes: Buffer | null) => {
    queue.push({ due: performance.now() + network.delayMs, bytes });
    queuedBytes += bytes?.length ?? 0;
    wake();
    if (isHeldBack()) from.pause();
  };
  to.on("drain", () => {
    isFull = false;
    wake();
  });
  from.on("data", push);
  // The end arrives in order, after the bytes sent before it.
  from.on("close", () => push(null));
  from.on("error", () => {});
  return { wake };
}
