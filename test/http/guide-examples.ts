/**
 * The examples of a guide: blocks of shell code with a comment that names their statuses, and the response that follows
 * some of them.
 */
import { join } from "node:path";
import { until } from "../until";

/**
 * `statuses` of the calls in their order. `variables`: names of shell variables and the fields of the last response
 * that they get. `until`: the field and the value that end the repetition. `response`: the part of the last response
 * that the guide shows.
 */
export type Example = {
  line: number;
  code: string;
  statuses: number[];
  variables: [name: string, field: string][];
  until: [field: string, value: string] | null;
  response: unknown;
};

export type ExampleResult = { statuses: number[]; body: unknown; output: string };

const OUTCOME = /^# (\d{3}(?:, \d{3})*)((?:; .*)?)$/m;

/** Returns the blocks of Markdown in the language, with the number of their first line. */
export const listBlocks = (markdown: string, language: string): { line: number; text: string; after: string }[] =>
  [...markdown.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map((match) => ({
    line: markdown.slice(0, match.index).split("\n").length,
    text: match[1]!,
    after: markdown.slice(match.index + match[0].length),
  }));

/** Returns the examples in their order. Throws if one has calls and no outcome. */
export const readExamples = (markdown: string): Example[] =>
  listBlocks(markdown, "bash").map(({ line, text, after }) => {
    const [, statuses = "", rest = ""] = OUTCOME.exec(text) ?? [];
    const clauses = rest.split("; ").filter(Boolean);
    const loop = clauses.find((clause) => clause.startsWith("until "))?.slice("until ".length);
    const pairs = clauses.filter((clause) => !clause.startsWith("until ")).flatMap((clause) => clause.split(", "));
    const shown = /^\n+```json\n(.*?)\n```/s.exec(after)?.[1];
    if (/\bcurl\b/.test(text) && statuses === "") throw new Error(`line ${line}: no statuses`);
    return {
      line,
      code: text,
      statuses: statuses === "" ? [] : statuses.split(", ").map(Number),
      variables: pairs.map((pair) => splitPair(pair)),
      until: loop === undefined ? null : splitPair(loop),
      response: shown === undefined ? undefined : JSON.parse(shown),
    };
  });

const splitPair = (pair: string): [string, string] => {
  const at = pair.indexOf("=");
  return [pair.slice(0, at), pair.slice(at + 1)];
};

/** Creates a runner of examples in a folder, one after the other, as if they were pasted into one shell. */
export async function createExampleShell(folder: string, variables: Record<string, string>) {
  await Bun.write(
    join(folder, ".curlrc"),
    'silent\nshow-error\nmax-time = 60\nwrite-out = "\\n%{stderr}%{http_code}\\n"\n',
  );
  const assignments = Object.entries(variables).map(([name, value]) => assign(name, value));

  async function runOnce({ code }: Example): Promise<ExampleResult> {
    // A stream does not end. The clock of the server continues without a pause.
    const finite = code.replace(/^curl -N (.*)$/m, "curl -N --max-time 2 $1 || [ $? = 28 ]").replace(/^sleep .*$/m, "");
    const shell = Bun.spawn(["bash", "-euo", "pipefail", "-c", `${assignments.join("\n")}\n${finite}`], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? "", HOME: folder, CURL_HOME: folder },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, errors] = await Promise.all([new Response(shell.stdout).text(), new Response(shell.stderr).text()]);
    if ((await shell.exited) !== 0) throw new Error(`${code}\n${output}\n${errors}`);
    const bodies = output.split("\n").flatMap((line) => parseJson(line));
    const statuses = errors
      .split("\n")
      .filter((line) => /^\d{3}$/.test(line))
      .map(Number);
    return { statuses, body: bodies.at(-1), output };
  }

  return async (example: Example): Promise<ExampleResult> => {
    const { until: end, code } = example;
    const result = end
      ? await until(`${end.join("=")} in line ${example.line}`, async () => {
          const found = await runOnce(example);
          return readField(found, end[0]) === end[1] ? found : null;
        })
      : await runOnce(example);
    assignments.push(...code.split("\n").filter((line) => /^[A-Z_]+=/.test(line)));
    for (const [name, field] of example.variables) assignments.push(assign(name, readField(result, field)));
    return result;
  };
}

const assign = (name: string, value: string): string => `${name}='${value.replaceAll("'", "'\\''")}'`;

const parseJson = (line: string): unknown[] => {
  if (!/^[[{]/.test(line)) return [];
  return [JSON.parse(line)];
};

/** Returns a field of the body, such as `steps.0.id`, or a header of the response, such as `Location`. */
function readField({ body, output }: ExampleResult, field: string): string {
  if (/^[A-Z]/.test(field)) {
    const value = new RegExp(`^${field}: (.*?)\r?$`, "im").exec(output)?.[1];
    if (value === undefined) throw new Error(`no header ${field} in ${output}`);
    return value;
  }
  let value = body;
  for (const part of field.split(".")) value = (value as Record<string, unknown> | undefined)?.[part];
  if (value === undefined || value === null) throw new Error(`no field ${field} in ${JSON.stringify(body)}`);
  return String(value);
}

/** Lists where a value differs from the shown form: each shown field must exist with a value of the same type. */
export function listDifferences(actual: unknown, shown: unknown, at = "response"): string[] {
  if (Array.isArray(shown)) {
    if (!Array.isArray(actual)) return [`${at} is no list`];
    if (shown.length === 0) return [];
    return actual.length === 0 ? [`${at} is empty`] : listDifferences(actual[0], shown[0], `${at}[0]`);
  }
  if (typeof shown === "object" && shown !== null) {
    if (typeof actual !== "object" || actual === null) return [`${at} is no object`];
    return Object.entries(shown).flatMap(([key, value]) =>
      key in actual
        ? listDifferences((actual as Record<string, unknown>)[key], value, `${at}.${key}`)
        : [`${at}.${key} is missing`],
    );
  }
  if (typeof actual !== typeof shown) return [`${at} is ${JSON.stringify(actual)}`];
  const isName = typeof shown === "string" && /^[a-z_]+$/.test(shown);
  return isName && actual !== shown ? [`${at} is ${JSON.stringify(actual)}, not ${JSON.stringify(shown)}`] : [];
}
