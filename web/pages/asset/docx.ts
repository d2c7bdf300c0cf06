/**
 * Extracts the text of a DOCX file, which is a ZIP archive with `word/document.xml`. It is loaded when it is first
 * needed.
 */

const WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const MAX_XML_BYTES = 50_000_000;

/**
 * Elements to skip. A text box inside a paragraph has its own paragraphs, and moved text is read at its new position.
 */
const SKIPPED = ["p", "Fallback", "del", "moveFrom"];

/**
 * Returns one line per paragraph. Deleted text and alternative drawings are skipped. Throws `Error` with advice for the
 * user as the message.
 */
export async function readDocx(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const xml = await readZipEntry(bytes, "word/document.xml", MAX_XML_BYTES).catch(() => null);
  const document = xml && new DOMParser().parseFromString(new TextDecoder().decode(xml), "application/xml");
  if (!document || document.getElementsByTagName("parsererror").length > 0)
    throw new Error("The document cannot be read. Save it again as DOCX, or paste the script.");
  return [...document.getElementsByTagNameNS(WORD, "p")].map(readParagraph).join("\n").trim();
}

function readParagraph(paragraph: Element): string {
  let text = "";
  const visit = (node: Element) => {
    for (const child of node.children) {
      if (SKIPPED.includes(child.localName)) continue;
      if (child.localName === "t") text += child.textContent;
      else if (child.localName === "noBreakHyphen") text += "-";
      else if (child.localName === "tab") text += " ";
      else if (child.localName === "br" || child.localName === "cr") text += "\n";
      else visit(child);
    }
  };
  visit(paragraph);
  return text;
}

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;

/** Returns the bytes of an entry. Throws `Error` if it does not exist, is damaged or larger than `maxBytes`. */
export async function readZipEntry(
  bytes: Uint8Array<ArrayBuffer>,
  name: string,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { method, start, length } = getEntry(view, bytes, name);
  const data = bytes.subarray(start, start + length);
  if (data.length < length) throw new Error("The archive is truncated.");
  if (method === 0 && length <= maxBytes) return data;
  if (method !== 8) throw new Error("The archive uses another compression, or the file is too large.");
  return inflate(data, maxBytes);
}

type Entry = { method: number; start: number; length: number };

function getEntry(view: DataView, bytes: Uint8Array, name: string): Entry {
  let at = getDirectory(view);
  while (at + 46 <= view.byteLength && view.getUint32(at, true) === ENTRY_SIGNATURE) {
    const nameLength = view.getUint16(at + 28, true);
    const found = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength));
    if (found === name) {
      const local = view.getUint32(at + 42, true);
      if (view.getUint32(local, true) !== LOCAL_SIGNATURE) throw new Error("The archive is damaged.");
      const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
      return { method: view.getUint16(at + 10, true), start, length: view.getUint32(at + 20, true) };
    }
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  throw new Error(`The archive has no ${name}.`);
}

/**
 * Returns the offset of the central directory. The record at the end of the archive contains it and may be followed by
 * a comment.
 */
function getDirectory(view: DataView): number {
  const last = view.byteLength - END_BYTES;
  for (let at = last; at >= Math.max(0, last - MAX_COMMENT_BYTES); at--)
    if (view.getUint32(at, true) === END_SIGNATURE) return view.getUint32(at + 16, true);
  throw new Error("Not a ZIP archive.");
}

async function inflate(data: Uint8Array<ArrayBuffer>, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const part of readParts(new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate-raw")))) {
    size += part.length;
    if (size > maxBytes) throw new Error("The file in the archive is too large.");
    parts.push(part);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Safari does not support asynchronous iteration of streams. Leaving the loop cancels the stream. */
async function* readParts<Part>(stream: ReadableStream<Part>): AsyncGenerator<Part> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
