import { expect, test } from "bun:test";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createRandom } from "../random";
import { startTcpProxy } from "../tcp-proxy";
import { until } from "../until";

/** A server that sends back what it receives, and a proxy before it. */
async function openNetwork() {
  const sockets: Socket[] = [];
  let received = "";
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      received += bytes;
      socket.write(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy = await startTcpProxy((server.address() as AddressInfo).port);
  return {
    proxy,
    received: () => received,
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function openClient(port: number) {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  let state: "connecting" | "open" | "closed" = "connecting";
  socket.on("connect", () => {
    state = "open";
  });
  socket.on("data", (bytes) => {
    received += bytes;
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    state = "closed";
  });
  return { socket, received: () => received, state: () => state, [Symbol.dispose]: () => void socket.destroy() };
}

/** Sends a text and waits until it comes back. */
async function roundTrip({ socket, received }: ReturnType<typeof openClient>, text: string) {
  const before = received().length;
  socket.write(text);
  await until("the echo", () => received().length === before + text.length);
  expect(received().slice(before)).toBe(text);
}

test("passes bytes on in both directions and counts them", async () => {
  await using network = await openNetwork();
  using client = openClient(network.proxy.port);
  await roundTrip(client, "x".repeat(3_000_000));
  expect(network.proxy.bytes).toEqual({ to_server: 3_000_000, to_client: 3_000_000 });
  expect(network.proxy.openConnections()).toBe(1);
  client.socket.destroy();
  await until("the end of the connection", () => network.proxy.openConnections() === 0);
});

test("a partition is silent for open and new connections, and loses nothing", async () => {
  await using network = await openNetwork();
  using client = openClient(network.proxy.port);
  await roundTrip(client, "one");
  network.proxy.partition();
  client.socket.write("two");
  using later = openClient(network.proxy.port);
  later.socket.write("three");
  await until("the new connection", () => later.state() === "open");
  // Bytes of another connection need no longer than these would.
  await using direct = await openNetwork();
  using other = openClient(direct.proxy.port);
  await roundTrip(other, "four");
  expect([client.received(), later.received(), network.received()]).toEqual(["one", "", "one"]);
  expect([client.state(), later.state()]).toEqual(["open", "open"]);
  await network.proxy.heal();
  await until("what was on its way", () => client.received() === "onetwo" && later.received() === "three");
  await roundTrip(client, "five");
});

test("a partition of one direction", async () => {
  await using network = await openNetwork();
  using client = openClient(network.proxy.port);
  network.proxy.partition("to_client");
  client.socket.write("one");
  await until("the request", () => network.received() === "one");
  expect(client.received()).toBe("");
  await network.proxy.heal();
  await until("the answer", () => client.received() === "one");
});

test("refuses connections on the same port until it is healed", async () => {
  await using network = await openNetwork();
  using client = openClient(network.proxy.port);
  await roundTrip(client, "one");
  await network.proxy.refuse();
  await until("the end of the connection", () => client.state() === "closed");
  using refused = openClient(network.proxy.port);
  await until("the refusal", () => refused.state() === "closed");
  await network.proxy.heal();
  using again = openClient(network.proxy.port);
  await roundTrip(again, "two");
  network.proxy.cut();
  await until("the cut", () => again.state() === "closed");
  using open = openClient(network.proxy.port);
  await roundTrip(open, "three");
});

test("delays each direction", async () => {
  await using network = await openNetwork();
  using client = openClient(network.proxy.port);
  await roundTrip(client, "one");
  network.proxy.delay(60);
  const started = performance.now();
  await roundTrip(client, "two");
  expect(performance.now() - started).toBeGreaterThanOrEqual(119);
});

test("cuts connections after a random number of bytes that the seed decides", async () => {
  const carried = async (seed: number) => {
    await using network = await openNetwork();
    network.proxy.lose(100_000, createRandom(seed));
    using client = openClient(network.proxy.port);
    client.socket.write("x".repeat(300_000));
    await until("the cut", () => client.state() === "closed");
    const { to_server, to_client } = network.proxy.bytes;
    return to_server + to_client;
  };
  const [first, again, other] = [await carried(1), await carried(1), await carried(2)];
  expect(first).toBeLessThan(200_000);
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});
