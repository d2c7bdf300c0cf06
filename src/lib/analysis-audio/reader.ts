/** Reads ranges of analysis audio, so that long recordings take little memory. Also reads old files of raw samples. */
import { type FileHandle, open } from "node:fs/promises";
import { readInto } from "../file-bytes";
import { BLOCK_SAMPLES, decodeBlock } from "./block";
import {
  type BlockIndex,
  DamagedAudioError,
  FOOTER_BYTES,
  HEADER_BYTES,
  hasHeader,
  parseFooter,
  parseIndex,
} from "./layout";

/** Opens compressed analysis audio, or raw 16-bit samples. Throws `DamagedAudioError` and file system errors. */
export async function openAudioFile(path: string) {
  const file = await open(path, "r");
  try {
    const { size, mtimeMs, ino } = await file.stat();
    const version = `${ino}-${size}-${mtimeMs}`;
    const isCompressed = hasHeader(await readInto(file, new Uint8Array(Math.min(size, HEADER_BYTES)), 0));
    const { samples, read } = isCompressed
      ? await openCompressed(file, size, `${path}:${version}`)
      : openRaw(file, size);
    return {
      /** Whole samples in the file. */
      samples,
      /** Changes when the file changes. */
      version,
      /**
       * Returns samples from `from`: fewer than `count` at the end of the file, none after it. Throws
       * `DamagedAudioError`.
       */
      read: (from: number, count: number) => {
        const start = Math.min(Math.max(0, from), samples);
        return read(start, Math.max(0, Math.min(count, samples - start)));
      },
      close: () => file.close(),
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

export type AudioReader = Awaited<ReturnType<typeof openAudioFile>>;

/** Reads `count` samples starting at `start`, all within the file. */
type SampleSource = { samples: number; read(start: number, count: number): Promise<Int16Array> };

function openRaw(file: FileHandle, size: number): SampleSource {
  return {
    // An odd byte at the end is ignored.
    samples: Math.floor(size / 2),
    read: async (start, count) => {
      const bytes = await readInto(file, new Uint8Array(count * 2), start * 2);
      return new Int16Array(bytes.buffer, 0, bytes.length >> 1);
    },
  };
}

/**
 * The blocks that were decoded last, by recording and number: a planner reads the same minute of audio again and again,
 * each time with another reader.
 */
const decodedBlocks = new Map<string, Int16Array>();
const MAX_DECODED_BLOCKS = 64;

/** `recording` changes when the file changes. */
async function openCompressed(file: FileHandle, size: number, recording: string): Promise<SampleSource> {
  const footer = parseFooter(
    await readInto(file, new Uint8Array(FOOTER_BYTES), Math.max(0, size - FOOTER_BYTES)),
    size,
  );
  const end = size - FOOTER_BYTES - footer.indexBytes;
  const index = parseIndex(await readInto(file, new Uint8Array(footer.indexBytes), end), footer, end);

  /** Moves the block to the end of the cache. */
  function keep(block: number, samples: Int16Array): void {
    const key = `${recording}:${block}`;
    decodedBlocks.delete(key);
    decodedBlocks.set(key, samples);
    if (decodedBlocks.size > MAX_DECODED_BLOCKS) decodedBlocks.delete(decodedBlocks.keys().next().value!);
  }

  async function read(start: number, count: number): Promise<Int16Array> {
    const out = new Int16Array(count);
    if (count === 0) return out;
    const first = Math.floor(start / BLOCK_SAMPLES);
    const final = Math.floor((start + count - 1) / BLOCK_SAMPLES);
    const from = index.locate(first).offset;
    const until = index.locate(final);
    const readAll = () => readInto(file, new Uint8Array(until.offset + until.size - from), from);
    let bytes: Uint8Array | null = null;
    for (let block = first; block <= final; block++) {
      let samples = decodedBlocks.get(`${recording}:${block}`);
      if (samples === undefined) {
        bytes ??= await readAll();
        samples = decodeBlockAt(index, block, footer.samples, bytes, from);
      }
      keep(block, samples);
      const at = block * BLOCK_SAMPLES;
      const begin = Math.max(0, start - at);
      out.set(samples.subarray(begin, Math.min(samples.length, start + count - at)), at + begin - start);
    }
    return out;
  }
  return { samples: footer.samples, read };
}

/** Decodes a block from `bytes`, which start at offset `from` of the file. */
function decodeBlockAt(index: BlockIndex, block: number, total: number, bytes: Uint8Array, from: number): Int16Array {
  const count = Math.min(BLOCK_SAMPLES, total - block * BLOCK_SAMPLES);
  const { offset, size, crc } = index.locate(block);
  if (size === 0) return new Int16Array(count);
  const own = bytes.subarray(offset - from, offset - from + size);
  if (own.length !== size || Bun.hash.crc32(own) !== crc)
    throw new DamagedAudioError(`wrong checksum of block ${block}`);
  return decodeBlock(own, count);
}
