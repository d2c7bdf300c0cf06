/** A fake `sherpa-onnx-node`: returns given results and records its calls. */
import type { SherpaModule } from "../../../src/speech/sherpa";

export type FakeAnswer = {
  text?: string;
  tokens?: string[];
  timestamps?: number[];
  durations?: number[];
  ys_log_probs?: number[];
  lang?: string;
};

export type FakeSherpa = SherpaModule & {
  /** The configuration of each model that was loaded. */
  loaded: { modelConfig: Record<string, unknown> & { tokens: string } }[];
  /** The length of each segment that was recognized, in samples. */
  segmentSamples: number[];
  detectors: object[];
};

/** `answer` returns the result of the nth segment; `languages` are the detected languages, in order. */
export function fakeSherpa(answer: (stretch: number) => FakeAnswer, languages: string[] = []): FakeSherpa {
  type Stream = { samples: number; acceptWaveform(wave: { samples: Float32Array }): void };
  const stream = (): Stream => ({
    samples: 0,
    acceptWaveform(wave) {
      this.samples = wave.samples.length;
    },
  });
  const fake: FakeSherpa = {
    loaded: [],
    segmentSamples: [],
    detectors: [],
    OfflineRecognizer: {
      async createAsync(config) {
        fake.loaded.push(config as FakeSherpa["loaded"][number]);
        return {
          createStream: stream,
          async decodeAsync(given) {
            fake.segmentSamples.push((given as Stream).samples);
            const empty = { text: "", tokens: [], timestamps: [], durations: [], ys_log_probs: [], lang: "" };
            return { ...empty, emotion: "", event: "", words: [], ...answer(fake.segmentSamples.length - 1) };
          },
        };
      },
    },
    SpokenLanguageIdentification: class {
      constructor(config: object) {
        fake.detectors.push(config);
      }
      createStream = stream;
      compute(): string {
        return languages.shift() ?? "";
      }
    },
  };
  return fake;
}
