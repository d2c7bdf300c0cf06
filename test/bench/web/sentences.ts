/**
 * Lists every text of the dashboard once, with the file and line where it is first: `bun test/bench/web/sentences.ts
 * [FOLDER]`, for a review of the words. Default: all of `web/`. `{}` is in place of values.
 */
import { join } from "node:path";
import { Glob } from "bun";
import ts from "typescript-5";

const ROOT = join(import.meta.dir, "../../..");
const FOLDER = process.argv[2] ?? "web";
/** Attributes whose values nobody reads. */
const SILENT =
  /^(class|href|src|type|name|id|role|key|d|viewBox|autocomplete|style|look|icon|rel|dir|inputmode|pattern|as|lang|aria-(hidden|controls|live|haspopup|current|labelledby|describedby|autocomplete)|data-.*)$/;
/** Properties of objects, and functions, whose strings are not texts. */
const SILENT_NAMES =
  /^(icon|href|kind|look|type|state|width|name|value|class|keys|key|rule|paths?|command|querySelector|querySelectorAll|addEventListener|removeEventListener|closest|matches|getAttribute|setAttribute|GET|POST|PUT|PATCH|DELETE|startsWith|endsWith|includes|recall|remember|useRead|useList|matchMedia|getContext|import|Error|append|set|get|has)$/;

const found = new Map<string, string>();

for (const file of [...new Glob(`${FOLDER}/**/*.{ts,tsx}`).scanSync(ROOT)].toSorted()) {
  if (file.endsWith(".d.ts")) continue;
  const text = await Bun.file(join(ROOT, file)).text();
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const add = (node: ts.Node, words: string): void => {
    const sentence = words.replaceAll(/\s+/g, " ").trim();
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    if (isText(sentence) && !found.has(sentence)) found.set(sentence, `${file}:${line + 1}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node) || isSilent(node)) return;
    if (ts.isJsxElement(node) || ts.isJsxFragment(node)) add(node, joinChildren(node));
    if (ts.isStringLiteralLike(node)) add(node, node.text);
    if (ts.isTemplateExpression(node)) add(node, joinTemplate(node));
    ts.forEachChild(node, visit);
  };
  visit(source);
}
for (const [sentence, place] of [...found].toSorted(([, a], [, b]) => (a < b ? -1 : 1)))
  console.log(`${place}\t${sentence}`);
console.error(`${found.size} texts`);

/** Returns whether people read a string: one with a space, or a word with a capital. */
function isText(text: string): boolean {
  const isPath = /^M[\d{]/.test(text);
  const isListOfNames = /^[a-z\d]+( [a-z\d]+){20}/.test(text);
  if (isPath || isListOfNames || !/\p{L}{2}/u.test(text.replaceAll("{}", ""))) return false;
  return /^[\p{Lu}“{]/u.test(text)
    ? !/^[A-Z][A-Za-z]*[+:][A-Za-z+:]*$/.test(text)
    : /\p{L}.* \p{L}|^\{\}/u.test(text) && !/[=<>]|[a-z]-[a-z]+ [a-z]+-/.test(text);
}

function isSilent(node: ts.Node): boolean {
  if (ts.isJsxAttribute(node)) return SILENT.test(node.name.getText());
  if (ts.isPropertyAssignment(node))
    return ts.isStringLiteralLike(node.initializer) && SILENT_NAMES.test(node.name.getText());
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return false;
  const { expression } = node;
  const name = ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();
  return SILENT_NAMES.test(name) && node.arguments?.every((one) => ts.isStringLiteralLike(one)) === true;
}

function joinTemplate({ head, templateSpans }: ts.TemplateExpression): string {
  return head.text + templateSpans.map(({ literal }) => `{}${literal.text}`).join("");
}

/** Returns the texts of an element as one: its words may be in elements of their own. */
function joinChildren(node: ts.JsxElement | ts.JsxFragment): string {
  return node.children
    .map((child) => {
      if (ts.isJsxText(child)) return child.text;
      if (ts.isJsxElement(child) && isInline(child)) return joinChildren(child);
      if (!ts.isJsxExpression(child) || child.expression === undefined) return "";
      return ts.isStringLiteralLike(child.expression) ? child.expression.text : "{}";
    })
    .join("");
}

function isInline({ openingElement }: ts.JsxElement): boolean {
  return /^(a|b|bdi|code|em|kbd|strong|time)$/.test(openingElement.tagName.getText());
}
