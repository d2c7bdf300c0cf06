/** Extracts the text of a DOCX file, which is a ZIP archive with `word/document.xml`. */
import { readZipEntry } from "./zip-entry";

const WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const MAX_XML_BYTES = 50_000_000;

/**
 * Elements to skip. A text box inside a paragraph has its own paragraphs, and moved text is read at its new position.
 */
const SKIPPED = ["p", "Fallback", "del", "moveFrom"];

/**
 * Returns one line per paragraph. Deleted text and alternative drawings are skipped. Throws `Error` with a message that
 * says what the user can do.
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
