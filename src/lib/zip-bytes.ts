import { createZipWriter } from "./zip-writer";

/** Returns a ZIP archive of text files in memory. */
export async function packTexts(
  files: readonly { name: string; text: string }[],
  modifiedAt: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const zip = createZipWriter({
    write: async (bytes) => {
      parts.push(bytes.slice());
      length += bytes.length;
    },
    patch: async (bytes, position) => {
      let start = 0;
      for (const part of parts) {
        const from = Math.max(position, start);
        const to = Math.min(position + bytes.length, start + part.length);
        if (to > from) part.set(bytes.subarray(from - position, to - position), from - start);
        start += part.length;
      }
    },
  });
  for (const { name, text } of files) await zip.add({ name, modifiedAt, isCompressed: true }, encode(text));
  await zip.finish();
  const packed = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    packed.set(part, at);
    at += part.length;
  }
  return packed;
}

async function* encode(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}
