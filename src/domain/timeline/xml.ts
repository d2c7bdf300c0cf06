/** A small XML writer: elements are plain data and are escaped here, once. */

type XmlChild = XmlElement | string | null;
export type XmlElement = {
  name: string;
  attributes: Record<string, string | number | null>;
  children: Exclude<XmlChild, null>[];
};

/** Creates an element. Null attributes and children are omitted. An element contains either text or elements. */
export function createElement(
  name: string,
  attributes: Record<string, string | number | null> = {},
  ...children: (XmlChild | readonly XmlChild[])[]
): XmlElement {
  return { name, attributes, children: children.flat().filter((child) => child !== null) };
}

/** Creates elements with only text. The keys are their names. */
export const createTextElements = (texts: Record<string, string | number>): XmlElement[] =>
  Object.entries(texts).map(([name, text]) => createElement(name, {}, String(text)));

/** Formats a document: declaration, doctype (null for none) and the root, indented. */
export function formatXml(root: XmlElement, doctype: string | null): string {
  const lines = ['<?xml version="1.0" encoding="UTF-8"?>'];
  if (doctype !== null) lines.push(`<!DOCTYPE ${doctype}>`);
  appendElement(root, "", lines);
  return `${lines.join("\n")}\n`;
}

function appendElement({ name, attributes, children }: XmlElement, indent: string, lines: string[]): void {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => ` ${key}="${escapeXml(String(value)).replaceAll('"', "&quot;")}"`)
    .join("");
  const open = `${indent}<${name}${written}`;
  if (children.length === 0) {
    lines.push(`${open}/>`);
    return;
  }
  const texts = children.filter((child) => typeof child === "string");
  if (texts.length > 0) {
    lines.push(`${open}>${escapeXml(texts.join(""))}</${name}>`);
    return;
  }
  lines.push(`${open}>`);
  for (const child of children) if (typeof child !== "string") appendElement(child, `${indent}  `, lines);
  lines.push(`${indent}</${name}>`);
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/** Escapes text. Characters that XML 1.0 does not allow (other control characters, lone surrogates) become U+FFFD. */
const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML forbids
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>\t\n\r]/g, (sign) => ENTITIES[sign]!);
