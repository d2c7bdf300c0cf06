/** Reads the fragmented MP4 of pieces: an implementation of its own, for tests. */
type Box = { type: string; body: Uint8Array };

export function* iterateBoxes(bytes: Uint8Array): Generator<Box> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; at += view.getUint32(at)) {
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    yield { type, body: bytes.subarray(at + 8, at + view.getUint32(at)) };
  }
}

function findAll(bytes: Uint8Array, [type, ...rest]: string[]): Uint8Array[] {
  const found = [...iterateBoxes(bytes)].filter((box) => box.type === type).map((box) => box.body);
  return rest.length === 0 ? found : found.flatMap((body) => findAll(body, rest));
}

/** `time` is when it is decoded, `delay` how much later it is shown. */
export type PieceSample = { time: number; duration: number; isKey: boolean; bytes: number; delay: number };

/** Returns the initialization segments' sample descriptions, and the samples with times in units of the timescale. */
export function readPiece(piece: Uint8Array): {
  descriptions: Uint8Array[];
  timescale: number;
  samples: PieceSample[];
} {
  const [mdhd] = findAll(piece, ["moov", "trak", "mdia", "mdhd"]);
  const samples: PieceSample[] = [];
  const ends = findAll(piece, ["mdat"]).map((body) => body.length);
  for (const [n, traf] of findAll(piece, ["moof", "traf"]).entries()) {
    const toView = (body: Uint8Array) => new DataView(body.buffer, body.byteOffset, body.byteLength);
    const run = toView(findAll(traf, ["trun"])[0]!);
    let time = Number(toView(findAll(traf, ["tfdt"])[0]!).getBigUint64(4));
    const first = samples.length;
    const hasDelays = (run.getUint32(0) & 0x800) !== 0;
    for (let i = 0; i < run.getUint32(4); i++) {
      const entry = 12 + (hasDelays ? 16 : 12) * i;
      const [duration, bytes, flags] = [0, 4, 8].map((at) => run.getUint32(entry + at)) as [number, number, number];
      const delay = hasDelays ? run.getInt32(entry + 12) : 0;
      samples.push({ time, duration, bytes, isKey: flags === 0x2000000, delay });
      time += duration;
    }
    const total = samples.slice(first).reduce((sum, sample) => sum + sample.bytes, 0);
    if (total !== ends[n]) throw new Error(`samples have ${total} bytes, mdat ${ends[n]}`);
  }
  const timescale = new DataView(mdhd!.buffer, mdhd!.byteOffset).getUint32(12);
  return { descriptions: findAll(piece, ["moov", "trak", "mdia", "minf", "stbl", "stsd"]), timescale, samples };
}
