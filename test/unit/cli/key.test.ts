import { expect, test } from "bun:test";
import { formatKeyTable } from "../../../src/cli/key";
import { KEY_SCOPES } from "../../../src/domain/access";

const key = {
  id: "0199aaaa-0000-7000-8000-000000000001",
  email: "anna@example.test",
  name: "laptop",
  prefix: "sk_abcdef",
  scopes: [...KEY_SCOPES],
  workspace_id: "0199aaaa-0000-7000-8000-000000000002",
  created_at: "2026-11-22T03:04:05.678Z",
  last_used_at: null,
  expires_at: "2027-01-31T00:00:00.000Z",
};

test("keys are a table with aligned columns", () => {
  const lines = formatKeyTable([key, { ...key, name: "a", expires_at: null, last_used_at: key.created_at }]).split(
    "\n",
  );
  expect(lines[0]).toMatch(/^ID +EMAIL +NAME +PREFIX +SCOPES +CREATED +LAST USED +EXPIRES$/);
  expect(lines[1]).toMatch(
    /^0199aaaa-\S+ {2}anna@example.test {2}laptop {2}sk_abcdef {2}read,write {2}2026-11-22T03:04Z {2}never +2027-01-31T00:00Z$/,
  );
  expect(lines[2]).toMatch(/ {2}a +sk_abcdef {2}read,write {2}2026-11-22T03:04Z {2}2026-11-22T03:04Z {2}never$/);
  expect(new Set(lines.slice(0, 3).map((line) => line.search(/PREFIX|sk_/))).size).toBe(1);
  expect(lines[3]).toBe("");
});

test("control characters in a name do not reach the terminal", () => {
  const table = formatKeyTable([{ ...key, name: `a\u001b[2J\n${"b".repeat(100)}` }]);
  expect(table).not.toContain("\u001b");
  expect(table.trimEnd().split("\n")).toHaveLength(2);
  expect(table).toContain("…");
});

test("without keys nothing is printed", () => {
  expect(formatKeyTable([])).toBe("");
});
