import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { encodeEnergy, encodeMessage, type IpcFrame, readIpcFrames } from "../../../src/speech/ipc-protocol";

/** The bytes as a stream of chunks that end at the given places. */
function streamOf(bytes: Uint8Array, cuts: number[]): ReadableStream<Uint8Array> {
  const places = [...new Set(cuts.map((c) => c % (bytes.length + 1)))].sort((a, b) => a - b);
  return new ReadableStream({
    start(controller) {
      let at = 0;
      for (const place of [...places, bytes.length]) {
        controller.enqueue(bytes.slice(at, place));
        at = place;
      }
      controller.close();
    },
  });
}

const read = async (bytes: Uint8Array, cuts: number[] = []) => {
  const frames: IpcFrame[] = [];
  for await (const frame of readIpcFrames(streamOf(bytes, cuts))) frames.push(frame);
  return frames;
};

describe("frames", () => {
  test("arrive complete and in order, however the stream is chunked", async () => {
    const cancel = { command: "cancel", id: 7 } as const;
    const progress = { event: "progress", id: 1, share: 0.5 } as const;
    const energy = Float32Array.of(-1.5, Math.fround(-99.9));
    const bytes = new Uint8Array(
      Buffer.concat([encodeMessage(cancel), encodeEnergy(3, energy), encodeMessage(progress)]),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { maxLength: 12 }), async (cuts) => {
        expect(await read(bytes, cuts)).toEqual([
          { kind: "message", message: cancel },
          { kind: "energy", id: 3, energy },
          { kind: "message", message: progress },
        ]);
      }),
    );
  });

  test("a request for a second recognition and its results arrive as they were sent", async () => {
    const window = { start: 1_000_000, end: 5_000_000 };
    const command = {
      command: "recognize",
      id: 4,
      path: "/audio",
      language: null,
      modelsDir: null,
      requests: [{ window }],
    } as const;
    const words = [{ text: "topic", start: 2_000_000, end: 2_400_000, confidence: 0.9 }];
    const event = {
      event: "recognized",
      id: 4,
      recognitions: [{ words, meanLogProb: -0.25 }],
    } as const;
    const sent = [
      { ...command, requests: [...command.requests] },
      { ...event, recognitions: event.recognitions.map((one) => ({ ...one, words: [...one.words] })) },
    ];
    const frames = await read(new Uint8Array(Buffer.concat(sent.map(encodeMessage))));
    expect(frames).toEqual(sent.map((message) => ({ kind: "message", message })));
  });

  test("the log probability of an impossible text becomes the lowest number", async () => {
    const alignments = [{ words: [], meanLogProb: Number.NEGATIVE_INFINITY, tailLogProb: -1 }];
    const [frame] = await read(encodeMessage({ event: "aligned", id: 1, alignments }));
    expect(frame).toMatchObject({ message: { alignments: [{ meanLogProb: -Number.MAX_VALUE, tailLogProb: -1 }] } });
  });

  test("a frame that is incomplete at the end is dropped", async () => {
    const bytes = encodeMessage({ command: "cancel", id: 1 });
    expect(await read(bytes.subarray(0, bytes.length - 1))).toEqual([]);
  });

  test.each([
    ["text on standard output", new TextEncoder().encode("Segmentation fault (core dumped)")],
    ["an unknown kind", Uint8Array.of(0, 0, 0, 0, 9)],
    ["an energy frame of a wrong length", Uint8Array.of(5, 0, 0, 0, 2, 1, 0, 0, 0, 0)],
  ])("malformed data is rejected: %s", async (_, bytes) => {
    await expect(read(bytes)).rejects.toThrow();
  });
});
