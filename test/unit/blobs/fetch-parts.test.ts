/** A download in several parts at a time: the file is always a beginning of the whole one. */
import { expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fetchParts, type ReadRange } from "../../../src/blobs/fetch-parts";
import { createSemaphore } from "../../../src/lib/semaphore";
import { temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";

const CONTENT = Buffer.from(Array.from({ length: 95 }, (_, n) => n));

/** A head whose parts arrive when the test says so. */
function createHeldHead() {
  const asked = new Map<number, PromiseWithResolvers<void>>();
  let aborted = 0;
  const read: ReadRange = async function* ({ from, to }, signal) {
    const gate = Promise.withResolvers<void>();
    asked.set(from, gate);
    signal.addEventListener("abort", () => {
      aborted++;
      gate.reject(signal.reason);
    });
    await gate.promise;
    yield CONTENT.subarray(from, to);
  };
  return { asked, read, countAborted: () => aborted };
}

async function startFetch(permits = createSemaphore(8)) {
  const folder = await temporaryFolder();
  const path = join(folder.path, "file");
  await writeFile(path, "");
  const head = createHeldHead();
  const controller = new AbortController();
  const options = { read: head.read, claim: () => {}, permits, signal: controller.signal };
  const ended = fetchParts(path, { from: 0, to: CONTENT.length, partBytes: 10 }, options).then(
    () => null,
    (error: Error) => error.message,
  );
  const isAsked = (from: number) => until(`the part at ${from}`, () => head.asked.has(from));
  return { ...head, folder, path, controller, ended, isAsked, [Symbol.asyncDispose]: folder[Symbol.asyncDispose] };
}

test("four parts are on their way, and they are written in order", async () => {
  await using fetching = await startFetch();
  const { asked, path, isAsked } = fetching;
  await isAsked(30);
  for (const from of [30, 10, 20]) asked.get(from)!.resolve();
  expect([[...asked.keys()], (await readFile(path)).length]).toEqual([[0, 10, 20, 30], 0]);
  asked.get(0)!.resolve();
  for (const from of [70, 60, 50, 40, 80, 90]) {
    await isAsked(from);
    asked.get(from)!.resolve();
  }
  expect(await fetching.ended).toBeNull();
  expect(await readFile(path)).toEqual(CONTENT);
});

test("after a failure the file has the parts before it, and the others are not waited for", async () => {
  await using fetching = await startFetch();
  const { asked, path, isAsked } = fetching;
  await isAsked(30);
  asked.get(20)!.reject(new Error("broken"));
  asked.get(30)!.resolve();
  for (const from of [0, 10]) asked.get(from)!.resolve();
  expect(await fetching.ended).toBe("broken");
  expect(await readFile(path)).toEqual(CONTENT.subarray(0, 20));
});

test("an abort ends all parts", async () => {
  await using fetching = await startFetch();
  await fetching.isAsked(30);
  fetching.controller.abort(new Error("cancelled"));
  expect(await fetching.ended).toBe("cancelled");
  expect(fetching.countAborted()).toBe(4);
});

test("downloads that share fewer permits than they have parts all end", async () => {
  const permits = createSemaphore(3);
  await using one = await startFetch(permits);
  await using two = await startFetch(permits);
  for (let from = 0; from < CONTENT.length; from += 10)
    for (const { asked, isAsked } of [one, two]) void isAsked(from).then(() => asked.get(from)!.resolve());
  expect([await one.ended, await two.ended]).toEqual([null, null]);
  for (const { path } of [one, two]) expect(await readFile(path)).toEqual(CONTENT);
});
