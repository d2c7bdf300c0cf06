/** The text of a cut as a document: plain text, Markdown, or the parts of a Word document (ECMA-376). Pure. */
import type { PlanJson } from "./plan-json";
import { joinTexts } from "./segments";
import type { Word } from "./speech";
import { moveToCut } from "./subtitles";
import type { Ticks } from "./time";
import { createElement, formatXml, type XmlElement } from "./timeline/xml";

export const TRANSCRIPT_FORMATS = ["txt", "md", "docx"] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

/** `start` is on the clock of the rendered cut. */
export type TranscriptParagraph = { start: Ticks; text: string };

/** A pause in the recording that is longer than this ends a paragraph. */
const PAUSE_TICKS: Ticks = 1_500_000;
/** From this number of words on, a paragraph ends with its sentence. */
const USUAL_WORDS = 50;
const MAX_WORDS = 80;
const SENTENCE_END = /[.!?…。！？]["'”’)]?$/;

export function listTranscript(words: readonly Word[], plan: PlanJson): TranscriptParagraph[] {
  const paragraphs: TranscriptParagraph[] = [];
  let texts: string[] = [];
  let start: Ticks = 0;
  let last: Ticks | null = null;
  const end = () => {
    const text = joinTexts(texts);
    if (text !== "") paragraphs.push({ start, text });
    texts = [];
  };
  for (const { shift, words: kept } of moveToCut(words, plan)) {
    for (const word of kept) {
      const isPause = last !== null && word.start - last > PAUSE_TICKS;
      const isLong = texts.length >= USUAL_WORDS && SENTENCE_END.test(texts.at(-1)!);
      if (isPause || isLong || texts.length >= MAX_WORDS) end();
      if (texts.length === 0) start = word.start + shift;
      texts.push(word.text.trim());
      last = word.end;
    }
  }
  end();
  return paragraphs;
}

export type TranscriptLayout = { title: string; hasTimes: boolean };

/** Returns `1:02` or `1:02:03`. */
export function formatClock(ticks: Ticks): string {
  const seconds = Math.floor(ticks / 1_000_000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, "0");
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, "0")}:${rest}`;
}

/** Returns paragraphs with a blank line between them. */
export const formatPlainText = (paragraphs: readonly TranscriptParagraph[], { hasTimes }: TranscriptLayout): string =>
  paragraphs.map(({ start, text }) => `${hasTimes ? `[${formatClock(start)}] ` : ""}${text}\n`).join("\n");

const escapeMarkdown = (text: string): string =>
  text.replace(/[\\`*_[\]<>&~|]/g, "\\$&").replace(/^(#{1,6}(?=\s)|[-+=]|\d{1,9}(?=[.)]))/, (mark) => {
    const isNumber = /^\d/.test(mark);
    return isNumber ? `${mark}\\` : `\\${mark}`;
  });

export function formatMarkdown(
  paragraphs: readonly TranscriptParagraph[],
  { title, hasTimes }: TranscriptLayout,
): string {
  const texts = paragraphs.map(({ start, text }) =>
    hasTimes ? `**${formatClock(start)}** ${escapeMarkdown(text)}` : escapeMarkdown(text),
  );
  return [`# ${escapeMarkdown(title)}`, ...texts].map((text) => `${text}\n`).join("\n");
}

const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006";
const WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml";

/** A file of the archive that is a Word document. */
export type DocumentPart = { name: string; text: string };

export function formatDocx(
  paragraphs: readonly TranscriptParagraph[],
  { title, hasTimes }: TranscriptLayout,
): DocumentPart[] {
  const body = createElement(
    "w:body",
    {},
    createParagraph("Title", [createRun(title)]),
    paragraphs.map(({ start, text }) =>
      createParagraph(null, [hasTimes ? createRun(`${formatClock(start)} `, "Time") : null, createRun(text)]),
    ),
  );
  const parts: [string, XmlElement][] = [
    ["[Content_Types].xml", createContentTypes()],
    ["_rels/.rels", createRelations([["officeDocument", "word/document.xml"]])],
    ["word/_rels/document.xml.rels", createRelations([["styles", "styles.xml"]])],
    ["word/styles.xml", createStyles()],
    ["word/document.xml", createElement("w:document", { "xmlns:w": WORD }, body)],
  ];
  return parts.map(([name, root]) => ({ name, text: formatXml(root, null) }));
}

const createParagraph = (style: string | null, runs: (XmlElement | null)[]): XmlElement =>
  createElement(
    "w:p",
    {},
    style === null ? null : createElement("w:pPr", {}, createElement("w:pStyle", { "w:val": style })),
    runs,
  );

const createRun = (text: string, style: string | null = null): XmlElement =>
  createElement(
    "w:r",
    {},
    style === null ? null : createElement("w:rPr", {}, createElement("w:rStyle", { "w:val": style })),
    createElement("w:t", { "xml:space": "preserve" }, text),
  );

const createContentTypes = (): XmlElement =>
  createElement(
    "Types",
    { xmlns: `${PACKAGE}/content-types` },
    createElement("Default", {
      Extension: "rels",
      ContentType: "application/vnd.openxmlformats-package.relationships+xml",
    }),
    createElement("Default", { Extension: "xml", ContentType: "application/xml" }),
    ["document.main", "styles"].map((kind) =>
      createElement("Override", {
        PartName: `/word/${kind.replace(".main", "")}.xml`,
        ContentType: `${WORD_TYPE}.${kind}+xml`,
      }),
    ),
  );

const createRelations = (targets: [type: string, target: string][]): XmlElement =>
  createElement(
    "Relationships",
    { xmlns: `${PACKAGE}/relationships` },
    targets.map(([type, target], index) =>
      createElement("Relationship", { Id: `rId${index + 1}`, Type: `${OFFICE}/relationships/${type}`, Target: target }),
    ),
  );

/** Styles of the title, of paragraphs and of times, and the defaults that every document has. */
function createStyles(): XmlElement {
  const value = (name: string, text: string | number) => createElement(name, { "w:val": text });
  const style = (type: string, id: string, name: string, ...content: XmlElement[]) =>
    createElement("w:style", { "w:type": type, "w:styleId": id }, value("w:name", name), content);
  const usual = (type: string, id: string, name: string) =>
    createElement("w:style", { "w:type": type, "w:default": "1", "w:styleId": id }, value("w:name", name));
  const spacing = createElement("w:spacing", { "w:after": 160, "w:line": 288, "w:lineRule": "auto" });
  return createElement(
    "w:styles",
    { "xmlns:w": WORD },
    createElement(
      "w:docDefaults",
      {},
      createElement("w:rPrDefault", {}, createElement("w:rPr", {}, value("w:sz", 22))),
      createElement("w:pPrDefault", {}, createElement("w:pPr", {}, spacing)),
    ),
    usual("paragraph", "Normal", "Normal"),
    usual("character", "DefaultParagraphFont", "Default Paragraph Font"),
    style("paragraph", "Title", "Title", createElement("w:rPr", {}, createElement("w:b"), value("w:sz", 36))),
    style("character", "Time", "Time", createElement("w:rPr", {}, value("w:color", "667085"), value("w:sz", 18))),
  );
}
