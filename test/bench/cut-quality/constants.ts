/**
 * Counts the numbers of planning: `bun test/bench/cut-quality/constants.ts [files]`. Prints the thresholds of the
 * tables, the other numbers in the code but 0, 1 and 2, and the files and lines. The words of languages and numbers
 * inside regular expressions do not count. `files` lists the numbers of each file.
 */

import { join } from "node:path";
import { Glob } from "bun";
import ts from "typescript-5";
import { STAGE_THRESHOLDS } from "../../../src/domain/planning/thresholds";

const FOLDER = join(import.meta.dir, "../../../src/domain/planning");
const TABLES = /thresholds\.ts$/;
const LANGUAGES = /lexicon\/(?:english|french|german|spanish)\.ts$/;
const PLAIN_NUMBERS = new Set([0, 1, 2]);

const files = [...new Glob("**/*.ts").scanSync(FOLDER)].sort();
const thresholds = STAGE_THRESHOLDS.reduce((sum, { values }) => sum + Object.keys(values).length, 0);
let [numbers, lines] = [0, 0];
for (const file of files) {
  const text = await Bun.file(join(FOLDER, file)).text();
  lines += text.split("\n").length - 1;
  if (TABLES.test(file) || LANGUAGES.test(file)) continue;
  const found = listNumbers(ts.createSourceFile(file, text, ts.ScriptTarget.Latest));
  numbers += found.length;
  if (process.argv[2] === "files" && found.length > 0) console.log(`${file}: ${found.join(" ")}`);
}
console.log(`${thresholds} thresholds, ${numbers} other numbers, ${files.length} files, ${lines} lines`);

function listNumbers(node: ts.Node): string[] {
  const found: string[] = [];
  const visit = (child: ts.Node) => {
    if (ts.isNumericLiteral(child) && !PLAIN_NUMBERS.has(Number(child.text))) found.push(child.text);
    ts.forEachChild(child, visit);
  };
  visit(node);
  return found;
}
