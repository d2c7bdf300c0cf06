/** The package has no types; these are the ones that the benchmark uses. */
declare module "sherpa-onnx-node" {
  export const OfflineRecognizer: new (
    config: object,
  ) => {
    createStream(): { acceptWaveform(wave: { sampleRate: number; samples: Float32Array }): void };
    decode(stream: object): void;
    getResult(stream: object): { text: string };
  };
}
