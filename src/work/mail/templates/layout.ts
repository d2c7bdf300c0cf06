/** The layout of every mail: a text part and an equivalent HTML part, without images, fonts or external links. */
import type { Mail } from "../../../domain/mail";

/** `paragraphs` come before the link, `notes` after it. All are plain text. */
export type MailContent = {
  subject: string;
  paragraphs: readonly string[];
  /** A list after the paragraphs. */
  items?: readonly string[];
  link?: { label: string; url: string };
  /** A code to type in. */
  code?: string;
  notes?: readonly string[];
};

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
/** Control and format characters, which could disguise a name. Emoji joiners stay. */
const INVISIBLE = /(?![\u200d\s])\p{C}/gu;

/** Shortens user input: a name must not become the text of the mail. */
export function shortenText(text: string, maxCharacters: number): string {
  const characters = [...text.replace(INVISIBLE, "")];
  return characters.length > maxCharacters
    ? `${characters.slice(0, maxCharacters - 1).join("")}…`
    : characters.join("");
}

const toLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Creates a mail. Line breaks become spaces, so that user input cannot start a header or a paragraph. */
export function createMail(to: string, content: MailContent): Mail {
  const { subject, paragraphs, items = [], link, code, notes = [] } = content;
  const text = [
    ...paragraphs.map(toLine),
    ...(items.length === 0 ? [] : [items.map((item) => `- ${toLine(item)}`).join("\n")]),
    ...(code === undefined ? [] : [`    ${code}`]),
    ...(link === undefined ? [] : [`${link.label}:\n${link.url}`]),
    ...notes.map(toLine),
  ].join("\n\n");
  const html = [
    ...paragraphs.map((paragraph) => `<p>${escapeHtml(toLine(paragraph))}</p>`),
    ...(items.length === 0
      ? []
      : [`<ul>${items.map((item) => `<li>${escapeHtml(toLine(item))}</li>`).join("\n")}</ul>`]),
    ...(code === undefined ? [] : [`<p style="font-size:24px;letter-spacing:4px"><b>${escapeHtml(code)}</b></p>`]),
    ...(link === undefined ? [] : [formatLink(link)]),
    ...notes.map((note) => `<p style="color:#666">${escapeHtml(toLine(note))}</p>`),
  ].join("\n");
  const body = `<body style="font-family:sans-serif;line-height:1.5;max-width:34em">\n${html}\n</body>`;
  return {
    to,
    subject: toLine(subject),
    text: `${text}\n`,
    html: `<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>${escapeHtml(toLine(subject))}</title>\n${body}\n</html>\n`,
  };
}

const formatLink = ({ label, url }: { label: string; url: string }): string =>
  `<p><a href="${escapeHtml(url)}">${escapeHtml(label)}</a></p>\n<p style="color:#666">${escapeHtml(url)}</p>`;
