/** The file names of the built-in recognizer's graphs, which the build prepares into one folder. */
export const SPEECH_GRAPHS = ["encoder.onnx", "decoder.onnx", "silero_vad.onnx"] as const;
