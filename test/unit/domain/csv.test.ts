import { expect, test } from "bun:test";
import { escapeFormula, formatCsvRow } from "../../../src/domain/csv";

test.each([
  [["a", "b c", ""], "a,b c,\r\n"],
  [["a,b", 'say "x"', "two\nlines"], '"a,b","say ""x""","two\nlines"\r\n'],
  [["=1+1", "+1", "-1", "@x", "\tx", "\rx", " =1"], `'=1+1,'+1,'-1,'@x,'\tx,"'\rx",' =1\r\n`],
  [['=HYPERLINK("http://x")', "a=1"], `"'=HYPERLINK(""http://x"")",a=1\r\n`],
])("%j is written as %j", (cells, line) => expect(formatCsvRow(cells.map(escapeFormula))).toBe(line));
