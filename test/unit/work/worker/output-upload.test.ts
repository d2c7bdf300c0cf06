/** Sending files to the head over real HTTP, through connections that break. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { sha256 } from "../../../../src/lib/hash";
import { createHead, type RemoteExecution } from "../../../../src/outbound/head";
import { sendFile } from "../../../../src/work/worker/execution-files";
import { createRandom } from "../../../random";
import { startTcpProxy } from "../../../tcp-proxy";
import { temporaryFolder } from "../../../temporary-folder";
import { until } from "../../../until";
import { startFakeHead } from "./fake-head";

const never = new AbortController().signal;
const PART_BYTES = 64 * 1024;

function openExecution(port: number, url: string): RemoteExecution {
  return createHead({ url: `http://127.0.0.1:${port}`, token: "wt_secret", ca: null }).openExecution(url);
}

async function writeFile(folder: string, bytes: number): Promise<{ name: string; path: string; content: Uint8Array }> {
  const content = new Uint8Array(bytes);
  for (let i = 0; i < bytes; i++) content[i] = (i * 31 + (i >> 8)) & 255;
  const path = join(folder, "out.bin");
  await Bun.write(path, content);
  return { name: "out.bin", path, content };
}

const describeContent = (content: Uint8Array) => ({
  name: "out.bin",
  bytes: content.byteLength,
  sha256: sha256(content),
});

test("a file arrives in parts with its checksum; an empty one too", async () => {
  await using head = startFakeHead();
  await using folder = await temporaryFolder();
  for (const bytes of [0, PART_BYTES, 3 * PART_BYTES + 5]) {
    const execution = head.addExecution({ kind: "cut", input: {} });
    const { content, ...file } = await writeFile(folder.path, bytes);
    const sent = await sendFile(openExecution(head.port, execution.url), file, never, PART_BYTES);
    expect(sent).toEqual(describeContent(content));
    expect(sha256(execution.received.get("out.bin")!)).toBe(sent.sha256);
  }
});

test("a file arrives through connections that break again and again", async () => {
  await using head = startFakeHead();
  await using network = await startTcpProxy(head.port);
  await using folder = await temporaryFolder();
  const execution = head.addExecution({ kind: "cut", input: {} });
  const { content, ...file } = await writeFile(folder.path, 12 * PART_BYTES);
  network.lose(3 * PART_BYTES, createRandom(7));
  const sent = await sendFile(openExecution(network.port, execution.url), file, never, PART_BYTES);
  expect(sent).toEqual(describeContent(content));
  expect(sha256(execution.received.get("out.bin")!)).toBe(sent.sha256);
  expect(network.bytes.to_server).toBeGreaterThan(content.byteLength);
});

test("parts that the head already has are not sent again", async () => {
  await using head = startFakeHead();
  await using folder = await temporaryFolder();
  const execution = head.addExecution({ kind: "cut", input: {} });
  const { content, ...file } = await writeFile(folder.path, 2 * PART_BYTES);
  execution.received.set("out.bin", content.slice(0, PART_BYTES + 1));
  expect(await sendFile(openExecution(head.port, execution.url), file, never, PART_BYTES)).toEqual(
    describeContent(content),
  );
  expect(sha256(execution.received.get("out.bin")!)).toBe(sha256(content));
});

test("a head that has more than the file is an error, not an endless loop", async () => {
  await using head = startFakeHead();
  await using folder = await temporaryFolder();
  const execution = head.addExecution({ kind: "cut", input: {} });
  const { content: _, ...file } = await writeFile(folder.path, PART_BYTES);
  execution.received.set("out.bin", new Uint8Array(2 * PART_BYTES));
  const sending = sendFile(openExecution(head.port, execution.url), file, never, PART_BYTES);
  await expect(sending).rejects.toThrow("more bytes");
  const stuck = {
    writeOutput: async () => 5,
    getOutputOffset: async () => 5,
  };
  await expect(sendFile(stuck, file, never, PART_BYTES)).rejects.toThrow("accepts no more bytes");
});

test("an execution that is gone ends the upload, and so does an abort while the head is away", async () => {
  await using head = startFakeHead();
  await using network = await startTcpProxy(head.port);
  await using folder = await temporaryFolder();
  const execution = head.addExecution({ kind: "cut", input: {} });
  const { content: _, ...file } = await writeFile(folder.path, PART_BYTES);
  const remote = openExecution(network.port, execution.url);
  const abort = new AbortController();
  await network.refuse();
  const sending = sendFile(remote, file, abort.signal, PART_BYTES);
  setTimeout(() => abort.abort(new Error("lost")), 50);
  await expect(sending).rejects.toThrow("lost");
  await network.heal();
  execution.isGone = true;
  await expect(sendFile(remote, file, never, PART_BYTES)).rejects.toMatchObject({ status: 404 });
});

test("a part that never gets an answer is sent again when the connection has ended", async () => {
  await using head = startFakeHead();
  await using network = await startTcpProxy(head.port);
  await using folder = await temporaryFolder();
  const execution = head.addExecution({ kind: "cut", input: {} });
  const { content, ...file } = await writeFile(folder.path, PART_BYTES);
  network.partition("to_client");
  const sending = sendFile(openExecution(network.port, execution.url), file, never, PART_BYTES);
  await until("all bytes arrive", () => execution.received.get("out.bin")?.byteLength === content.byteLength);
  network.cut();
  await network.heal();
  expect(await sending).toEqual(describeContent(content));
});
