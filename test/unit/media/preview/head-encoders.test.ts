/** The encoders of heads that wait for work, and the choice of one. */
import { describe, expect, test } from "bun:test";
import { AppError } from "../../../../src/domain/errors";
import type { VideoStream } from "../../../../src/domain/media";
import type { EncodedHead, HeadEncoder, HeadTools } from "../../../../src/media/preview/head";
import { createHeadEncoders } from "../../../../src/media/preview/head-encoders";
import { until } from "../../../until";

const video = (primaries: string | null): VideoStream =>
  ({
    ...{ width: 960, height: 540, codedWidth: 960, codedHeight: 540, pixelFormat: "yuv420p" },
    color: { primaries, transfer: null, matrix: null, range: null },
  }) as VideoStream;

const HEAD: EncodedHead = { samples: [new Uint8Array([1])], parameterSets: null };
const FRAMES = { sampleEntry: new Uint8Array(), samples: [], first: 1 };

type Fake = { state: "waiting" | "used" | "stopped"; end(cpuSeconds: number): void };

/** `answer` is called with the number of the process that gets the work. */
function open(answer: (process: number) => EncodedHead = () => HEAD) {
  const started: Fake[] = [];
  const start = (): HeadEncoder => {
    const { promise: ended, resolve: end } = Promise.withResolvers<number>();
    const fake: Fake = { state: "waiting", end };
    const number = started.push(fake);
    return {
      ended,
      encode: async () => {
        fake.state = "used";
        end(0);
        return answer(number);
      },
      stop: () => {
        fake.state = "stopped";
        end(0);
      },
    };
  };
  const encoders = createHeadEncoders({} as HeadTools, { start, delayMs: 1 });
  const states = () => started.map(({ state }) => state);
  const { signal } = new AbortController();
  return { encoders, started, states, encode: (of: VideoStream) => encoders.encode(of, FRAMES, signal) };
}

describe("encoders of heads", () => {
  test("start when they are asked for, and wait once they were prepared", async () => {
    const { encoders, states, encode } = open();
    expect(await encode(video(null))).toBe(HEAD);
    expect(states()).toEqual(["used"]);
    for (let n = 0; n < 3; n++) encoders.prepare(video(null));
    await until("a process waits", async () => states().length === 2);
    encoders.prepare(video(null));
    await encode(video(null));
    expect(states()).toEqual(["used", "used"]);
    await encode(video(null));
    expect(states()).toEqual(["used", "used", "used"]);
    encoders.stop();
  });

  test("wait for two formats at most, and encode only their own", async () => {
    const { encoders, states, encode } = open();
    for (const primaries of ["bt709", "bt2020", "smpte170m"]) encoders.prepare(video(primaries));
    await until("two processes wait", async () => states().length === 2);
    await encode(video("smpte170m"));
    expect(states()).toEqual(["waiting", "waiting", "used"]);
    await encode(video("bt2020"));
    expect(states()).toEqual(["waiting", "used", "used"]);
    encoders.stop();
    expect(states()).toEqual(["stopped", "used", "used"]);
  });

  test("that ended while they waited are replaced", async () => {
    const { encoders, started, states } = open();
    encoders.prepare(video(null));
    await until("a process waits", async () => states().length === 1);
    started[0]!.end(0);
    await until("another one waits", async () => {
      encoders.prepare(video(null));
      return states().length === 2;
    });
    encoders.stop();
  });

  test("that fail after they waited are tried once more, unless the preview is damaged", async () => {
    const killed = open((process) => {
      if (process === 1) throw new AppError("processing_failed", "The media could not be processed.");
      return HEAD;
    });
    killed.encoders.prepare(video(null));
    await until("a process waits", async () => killed.states().length === 1);
    expect(await killed.encode(video(null))).toBe(HEAD);
    expect(killed.states()).toEqual(["used", "used"]);

    const damaged = open(() => {
      throw new AppError("processing_failed", "The preview is damaged.", { isPermanent: true });
    });
    damaged.encoders.prepare(video(null));
    await until("a process waits", async () => damaged.states().length === 1);
    await expect(damaged.encode(video(null))).rejects.toThrow("damaged");
    expect(damaged.states()).toEqual(["used"]);
  });

  test("are not started after the server was stopped", async () => {
    const { encoders, states } = open();
    encoders.prepare(video(null));
    encoders.stop();
    // Timers of the same time end in their order.
    await new Promise((resolve) => setTimeout(resolve, 1));
    expect(states()).toEqual([]);
  });
});
