import "./page-globals";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import type { PlayableMedia } from "../../../web/editor/player/engine";
import { readStart, Scrubber } from "../../../web/editor/player/scrubber";
import { until } from "../../until";
import { definePageGlobal, usePageGlobals } from "./page-globals";

usePageGlobals();

/** Returns bytes with these numbers and texts. */
function toBytes(length: number, ...fields: [at: number, value: number | string][]): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(length));
  for (const [at, value] of fields) {
    if (typeof value === "number") view.setUint32(at, value);
    else for (let index = 0; index < 4; index++) view.setUint8(at + index, value.charCodeAt(index));
  }
  return view.buffer;
}
const MEDIA_BOX: [number, number | string][] = [
  [4, "mdhd"],
  [20, 48_000],
];

test("the start of a part of the audio is read from its boxes", () => {
  expect(readStart(toBytes(96, ...MEDIA_BOX, [40, "tfdt"], [48, 96_000]))).toBe(2_000_000);
  expect(readStart(toBytes(96, ...MEDIA_BOX, [40, "tfdt"], [44, 0x0100_0000], [52, 24_000]))).toBe(500_000);
  expect(readStart(toBytes(96, ...MEDIA_BOX))).toBeNull();
  expect(readStart(toBytes(8))).toBeNull();
  expect(readStart(toBytes(96, [4, "mdhd"], [40, "tfdt"]))).toBeNull();
});

/** The offsets of the grains that were started, in seconds, and whether decoding fails. */
const audio = { grains: [] as number[], isBroken: false };

class FakeContext {
  readonly currentTime = 0;
  readonly state = "running";
  async resume() {}
  async suspend() {}
  async close() {}
  async decodeAudioData() {
    if (audio.isBroken) throw new Error("damaged");
    return { duration: 4 };
  }
}
class FakeNode extends EventTarget {
  readonly gain = { linearRampToValueAtTime: () => {}, setTargetAtTime: () => {}, setValueAtTime: () => {} };
  connect = (next: unknown) => next;
  disconnect() {}
  stop() {}
  start(_at: number, offset: number) {
    audio.grains.push(offset);
  }
}
const FAKES = { AudioContext: FakeContext, AudioBufferSourceNode: FakeNode, GainNode: FakeNode };
const before = Object.keys(FAKES).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const);
beforeAll(() => void Object.assign(globalThis, FAKES));
afterAll(() => {
  for (const [name, descriptor] of before)
    if (descriptor) Object.defineProperty(globalThis, name, descriptor);
    else Reflect.deleteProperty(globalThis, name);
});

const PART = toBytes(96, ...MEDIA_BOX, [40, "tfdt"], [48, 0]);
const respondWithPart = () => new Response(PART, { headers: { "piece-sections": `${PART.byteLength} audio/mp4` } });

/** The requested addresses, and the responses to the next requests; after these, the part. */
let requested: string[] = [];
let responses: (() => Response | Promise<Response>)[] = [];
let media: PlayableMedia = {
  pieceUrl: (_track, variant) => variant,
  previewUrl: "",
  videoType: null,
  audioType: "audio/mp4",
  sourceTypes: { video: null, audio: "audio/mp4" },
  isPreviewReady: false,
  isTurned: false,
  sourceLines: [],
  frameRate: null,
};
let scrubber: Scrubber;
beforeEach(() => {
  [requested, responses] = [[], []];
  Object.assign(audio, { grains: [], isBroken: false });
  media = { ...media, isPreviewReady: false };
  definePageGlobal("fetch", async (url: string) => {
    requested.push(url);
    return (responses.shift() ?? respondWithPart)();
  });
  scrubber = new Scrubber(
    () => media,
    () => 4_000_000,
  );
});
afterEach(() => scrubber.dispose());

test("a grain plays when a busy server has its audio", async () => {
  responses = [() => Response.json({ code: "busy" }, { status: 503 })];
  scrubber.play(1_000_000, 1, null);
  await until("the grain", () => audio.grains.length > 0);
  expect([requested, audio.grains]).toEqual([["source", "source"], [1]]);
});

test("a part that has failed once plays later", async () => {
  audio.isBroken = true;
  scrubber.play(1_000_000, 1, null);
  await until("the request", () => requested.length === 1);
  await new Promise<void>((resolve) => setTimeout(resolve));
  audio.isBroken = false;
  scrubber.play(2_000_000, 1, null);
  await until("the grain", () => audio.grains.length > 0);
  expect(audio.grains).toEqual([2]);
});

test("the preview is played from when it is ready", async () => {
  scrubber.play(1_000_000, 1, null);
  await until("the grain of the source", () => audio.grains.length === 1);
  media = { ...media, isPreviewReady: true };
  scrubber.play(2_000_000, 1, null);
  await until("the grain of the preview", () => audio.grains.length === 2);
  expect(requested).toEqual(["source", "preview"]);
});

test("a grain that is stopped while its audio loads does not play", async () => {
  const loaded = Promise.withResolvers<Response>();
  responses = [() => loaded.promise];
  scrubber.play(1_000_000, 1, null);
  scrubber.stop();
  loaded.resolve(respondWithPart());
  await new Promise<void>((resolve) => setTimeout(resolve));
  scrubber.play(2_000_000, 1, null);
  await until("the next grain", () => audio.grains.length > 0);
  expect([requested.length, audio.grains]).toEqual([1, [2]]);
});
