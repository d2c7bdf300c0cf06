import { createZipWriter } from "./zip-writer";

/** Returns a ZIP archive of text files, built in memory. */
export async function packTexts(
  files: readonly { name: string; text: string }[],
  modifiedAt: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Buffer[] = [];
  const patches: { bytes: Buffer; position: number }[] = [];
  const zip = createZipWriter({
    write: async (bytes) => void parts.push(Buffer.from(bytes)),
    patch: async (bytes, position) => void patches.push({ bytes: Buffer.from(bytes), position }),
  });
  for (const { name, text } of files)
    await zip.add({ name, modifiedAt, isCompressed: true }, [new TextEncoder().encode(text)]);
  await zip.finish();
  const packed = Buffer.concat(parts);
  for (const { bytes, position } of patches) bytes.copy(packed, position);
  return packed;
}
