/** HTTP over a bare socket, for requests that no client library would send. */
import { connect, type Socket } from "node:net";

export type RawAnswer = { status: number; headers: Map<string, string>; body: string };
export type RawConnection = {
  socket: Socket;
  /** Everything received so far. */
  received(): string;
  /** Milliseconds from the opening of the connection to its end. */
  closed: Promise<number>;
};

/** Opens a connection to the server at `url` and sends `first`. */
export async function openConnection(url: string, first: string | Uint8Array): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const opened = performance.now();
  let received = "";
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
  });
  // A reset is one way to close a connection.
  socket.on("error", () => {});
  const closed = new Promise<number>((resolve) => socket.on("close", () => resolve(performance.now() - opened)));
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  if (first.length > 0) socket.write(first);
  return { socket, received: () => received, closed };
}

/** Parses the first response in the received bytes. Throws without one. */
export function parseAnswer(received: string): RawAnswer {
  const end = received.indexOf("\r\n\r\n");
  const [line = "", ...fields] = received.slice(0, end).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1]);
  if (end < 0 || !status) throw new Error(`no answer in ${JSON.stringify(received.slice(0, 200))}`);
  const headers = new Map(
    fields.map((field) => {
      const colon = field.indexOf(":");
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()] as const;
    }),
  );
  return { status, headers, body: received.slice(end + 4) };
}

/** Sends one request whose target goes out as it is, and reads the answer to its end. */
export async function rawRequest(
  url: string,
  method: string,
  target: string,
  headers: Record<string, string>,
  body: string | Uint8Array = "",
): Promise<RawAnswer> {
  const bytes = Buffer.from(body);
  const all = { Host: new URL(url).host, Connection: "close", "Content-Length": String(bytes.length), ...headers };
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${head.join("")}\r\n`), bytes]);
  const connection = await openConnection(url, request);
  await connection.closed;
  return parseAnswer(connection.received());
}
