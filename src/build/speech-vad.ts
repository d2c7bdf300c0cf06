/**
 * Rebuilds the Silero voice activity detector for 16 kHz from its weights: it processes many windows in one call
 * instead of one call per window. The convolutions are matrix products over all windows and the LSTM takes the windows
 * as a sequence; the arithmetic is the same.
 */
import { ELEMENT, type SourceGraph, type Tensor } from "./onnx";
import { createGraphBuilder } from "./speech-graph-builder";
import { toFloats } from "./speech-weights";

const CELLS = 128;
/**
 * Samples of a window with its context. The spectrum is computed over four frames; the last one is padded by
 * reflection.
 */
const WINDOW = 576;
const FRAMES = 4;
const FRAME_SAMPLES = 256;
const FRAME_STEP = 128;
const SPECTRUM = 129;

/**
 * Builds the detector. Inputs: `windows` [n, 576] (64 samples of context, then 512), `hidden` and `cell` [1, 1, 128]
 * from the previous call (zeros at first). Outputs: `speech` [n], the probability of speech in each window, and
 * `next_hidden`, `next_cell`.
 */
export function buildVoiceDetector(source: SourceGraph): Uint8Array {
  const constants = readWeightsFor16kHz(source);
  const g = createGraphBuilder();
  const getConstant = (name: string): Tensor => {
    const found = constants.get(name);
    if (!found) throw new Error(`Voice detector has no constant ${name}.`);
    return found;
  };
  const addConstant = (name: string) => g.constant(getConstant(name));
  /**
   * Adds a convolution over `steps` in time (kernel size 3, zero padding) as one matrix product: [n, steps, in] to [n,
   * out steps, out].
   */
  const convolution = (input: string, index: number, steps: number, stride: number): string => {
    const weight = getConstant(`encoder.${index}.reparam_conv.weight`);
    const [outs = 0, ins = 0] = weight.dims;
    const taps = Array.from({ length: Math.ceil(steps / stride) * 3 }, (_, i) => Math.floor(i / 3) * stride + (i % 3));
    const padded = g.add("Pad", [input, g.integers([0, 1, 0, 0, 1, 0])]);
    const gathered = g.add("Gather", [padded, g.integers(taps)], { axis: 1 });
    const rows = g.add("Reshape", [gathered, g.integers([0, -1, 3 * ins])]);
    const product = g.add("MatMul", [rows, g.floats(toTapMatrix(toFloats(weight), outs, ins), [3 * ins, outs])]);
    return g.add("Relu", [g.add("Add", [product, addConstant(`encoder.${index}.reparam_conv.bias`)])]);
  };

  const frames = Array.from({ length: FRAMES * FRAME_SAMPLES }, (_, i) => {
    const at = Math.floor(i / FRAME_SAMPLES) * FRAME_STEP + (i % FRAME_SAMPLES);
    return at < WINDOW ? at : 2 * (WINDOW - 1) - at;
  });
  const framed = g.add("Gather", ["windows", g.integers(frames, [FRAMES, FRAME_SAMPLES])], { axis: 1 });
  const basis = toFloats(getConstant("stft.forward_basis_buffer"));
  const waves = g.add("MatMul", [
    framed,
    g.floats(transpose(basis, 2 * SPECTRUM, FRAME_SAMPLES), [FRAME_SAMPLES, 2 * SPECTRUM]),
  ]);
  const [real, imaginary] = g.addMany("Split", [waves, g.integers([SPECTRUM, SPECTRUM])], 2, { axis: 2 });
  const power = g.add("Add", [g.add("Mul", [real!, real!]), g.add("Mul", [imaginary!, imaginary!])]);
  let x = g.add("Sqrt", [power]);
  let steps = FRAMES;
  for (const [index, stride] of [1, 2, 2, 1].entries()) {
    x = convolution(x, index, steps, stride);
    steps = Math.ceil(steps / stride);
  }

  const sequence = g.add("Reshape", [x, g.integers([-1, 1, CELLS])]);
  const gates = (name: string) => reorderGates(toFloats(getConstant(`decoder.rnn.${name}`)));
  const biases = [...gates("bias_ih"), ...gates("bias_hh")];
  const [states, hidden, cell] = g.addMany(
    "LSTM",
    [
      sequence,
      g.floats(gates("weight_ih"), [1, 4 * CELLS, CELLS]),
      g.floats(gates("weight_hh"), [1, 4 * CELLS, CELLS]),
      g.floats(biases, [1, 8 * CELLS]),
      "",
      "hidden",
      "cell",
    ],
    3,
    { hidden_size: CELLS },
  );
  const active = g.add("Relu", [g.add("Reshape", [states!, g.integers([-1, CELLS])])]);
  const column = g.floats(toFloats(getConstant("decoder.decoder.2.weight")), [CELLS, 1]);
  const score = g.add("Add", [g.add("MatMul", [active, column]), addConstant("decoder.decoder.2.bias")]);
  const speech = g.add("Reshape", [g.add("Sigmoid", [score]), g.integers([-1])]);
  g.output(speech, { name: "speech", type: ELEMENT.float, dims: ["n"] });
  g.output(hidden!, { name: "next_hidden", type: ELEMENT.float, dims: [1, 1, CELLS] });
  g.output(cell!, { name: "next_cell", type: ELEMENT.float, dims: [1, 1, CELLS] });
  return g.build("voice_detector", [
    { name: "windows", type: ELEMENT.float, dims: ["n", WINDOW] },
    { name: "hidden", type: ELEMENT.float, dims: [1, 1, CELLS] },
    { name: "cell", type: ELEMENT.float, dims: [1, 1, CELLS] },
  ]);
}

/**
 * Reads the constants of the network for 16 kHz by short name. The model has a network per sample rate in the branches
 * of an `If` node.
 */
function readWeightsFor16kHz(source: SourceGraph): Map<string, Tensor> {
  const branch = source.nodes.find((n) => n.op === "If")?.graphs.get("then_branch");
  if (!branch) throw new Error("Voice detector has no branch for 16 kHz.");
  return new Map(
    branch.nodes.flatMap((n) => {
      const value = n.tensors.get("value");
      return n.op === "Constant" && value ? [[(n.outputs[0] ?? "").replace(/^.*Inline_0__/, ""), value] as const] : [];
    }),
  );
}

const transpose = (values: Float32Array, rows: number, columns: number): Float32Array =>
  Float32Array.from({ length: values.length }, (_, i) => values[(i % rows) * columns + Math.floor(i / rows)]!);

/** Returns convolution weights [outs, ins, 3] as the matrix [3 * ins, outs]. */
const toTapMatrix = (values: Float32Array, outs: number, ins: number): Float32Array =>
  Float32Array.from({ length: values.length }, (_, i) => {
    const row = Math.floor(i / outs);
    return values[((i % outs) * ins + (row % ins)) * 3 + Math.floor(row / ins)]!;
  });

/**
 * Reorders the LSTM gates from the exporter's order (input, forget, cell, output) to that of ONNX (input, output,
 * forget, cell).
 */
function reorderGates(values: Float32Array): Float32Array {
  const size = values.length / 4;
  const gate = (i: number) => values.subarray(i * size, (i + 1) * size);
  return Float32Array.from([...gate(0), ...gate(3), ...gate(1), ...gate(2)]);
}
