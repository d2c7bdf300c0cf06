/** The prepared graphs of the built-in recogniser, as files of one folder. */
export const SPEECH_GRAPHS = ["encoder.onnx", "decoder.onnx", "silero_vad.onnx"] as const;
