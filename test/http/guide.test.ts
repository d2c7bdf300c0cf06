/** The guide is correct: its examples run as written, and everything that it names exists. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { HTTP_STATUS, JOB_CODES } from "../../src/domain/errors";
import { NOTIFICATION_TYPES } from "../../src/domain/states";
import { EVENT_TYPES } from "../../src/domain/webhooks";
import { GUIDES } from "../../src/http/guide";
import { temporaryFolder } from "../temporary-folder";
import { createAdmin, emailOf, PASSWORD, startSession, withPassword } from "./accounts";
import { createExampleShell, listBlocks, listDifferences, readExamples } from "./guide-examples";
import { type Harness, harness, PATIENCE_MS } from "./harness";
import { video } from "./media";
import { PRICES } from "./prices";
import { receiver } from "./receiver";

setDefaultTimeout(2 * PATIENCE_MS);

let server: Harness;
beforeAll(async () => {
  server = await harness({ WEBHOOKS_ALLOW_LOOPBACK: "true" }, { configuration: PRICES, sharesChild: true });
});
afterAll(() => server[Symbol.asyncDispose]());

const guides = Object.entries(GUIDES);

describe("the examples", () => {
  test.each([
    ["public", 20],
    ["dashboard", 25],
    ["keys", 2],
    ["oauth", 5],
  ] as const)("of the guide %s run in their order", async (name, least) => {
    const examples = readExamples(GUIDES[name].text);
    expect(examples.length).toBeGreaterThanOrEqual(least);
    await using folder = await temporaryFolder();
    await Bun.write(join(folder.path, "talk.mp4"), await video(10));
    await using hook = receiver();
    const user = await withPassword(server, await server.user());
    const run = await createExampleShell(folder.path, {
      URL: server.url(),
      KEY: user.key!,
      TOKEN: (await startSession(server, user)).key,
      EMAIL: emailOf(user),
      PASSWORD,
      HOOK: hook.url,
      ADMIN: `Authorization: Bearer ${(await startSession(server, await createAdmin(server))).key}`,
    });
    for (const example of examples) {
      // Polls of a device must not follow one another too fast.
      server.advance(6_000);
      const { statuses, body, output } = await run(example);
      expect([example.line, statuses, output]).toEqual([example.line, example.statuses, output]);
      if (example.code.includes("curl -N")) expect(output).toMatch(/^event: pipeline\.updated$/m);
      if (example.response !== undefined)
        expect([example.line, listDifferences(body, example.response)]).toEqual([example.line, []]);
    }
  });

  test("that are not run call no API", () => {
    for (const [, { text }] of guides)
      for (const { text: code } of listBlocks(text, "sh")) expect(code).not.toContain("$URL");
  });

  test("a wrong response is found", () => {
    expect(listDifferences({ a: [{ b: 1 }] }, { a: [{ b: 2 }] })).toEqual([]);
    expect(listDifferences({ state: "failed" }, { state: "completed" })).toHaveLength(1);
    expect(listDifferences({ a: [] }, { a: [{ b: 2 }] })).toEqual(["response.a is empty"]);
    expect(listDifferences({ a: "1" }, { a: 1, b: 2 })).toEqual(['response.a is "1"', "response.b is missing"]);
    expect(() => readExamples("```bash\ncurl x\n```\n")).toThrow("no statuses");
  });
});

describe("the guide", () => {
  test("names calls that exist", async () => {
    const documents = ["/openapi.json", "/api/v1/openapi.json", "/api-keys/openapi.json", "/oauth/openapi.json"];
    const calls = new Set<string>();
    for (const document of documents) {
      const { paths } = await server.nobody.must<{ paths: Record<string, object> }>("GET", document);
      for (const [path, methods] of Object.entries(paths))
        for (const method of Object.keys(methods)) calls.add(`${method.toUpperCase()} ${path}`);
    }
    const named = guides.flatMap(([, { text }]) =>
      [...text.matchAll(/`((?:GET|HEAD|POST|PUT|PATCH|DELETE) \/[^`?]*)(?:\?[^`]*)?`/g)].map((match) => match[1]!),
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((call) => !calls.has(call))).toEqual([]);
  });

  test("lists all codes, events and notifications", () => {
    const listed = (text: string, names: readonly string[]) => names.filter((name) => !text.includes(`\`${name}\``));
    expect(listed(GUIDES.public.text, [...Object.keys(HTTP_STATUS), ...JOB_CODES, ...EVENT_TYPES])).toEqual([]);
    expect(listed(GUIDES.dashboard.text, NOTIFICATION_TYPES)).toEqual([]);
  });

  test("has pages whose links lead somewhere", async () => {
    const anchors = new Map<string, Set<string>>();
    const links: [page: string, link: string][] = [];
    for (const [, { path, title }] of guides) {
      const { status, body } = await server.nobody.call<string>("GET", path);
      expect([path, status]).toEqual([path, 200]);
      expect(body).toContain(`<h1>${title}</h1>`);
      const ids = [...body.matchAll(/\sid="([^"]+)"/g)].map((match) => match[1]!);
      expect([path, ids.filter((id, n) => ids.indexOf(id) !== n)]).toEqual([path, []]);
      anchors.set(path, new Set(ids));
      for (const match of body.matchAll(/<a [^>]*href="([^"]+)"/g)) links.push([path, match[1]!]);
    }
    expect(links.length).toBeGreaterThan(100);
    for (const [page, link] of links.filter(([, link]) => !link.startsWith("https://"))) {
      const { pathname, hash } = new URL(link, `http://offcut${page}`);
      const ids = anchors.get(pathname);
      if (hash !== "") expect([page, link, ids?.has(hash.slice(1))]).toEqual([page, link, true]);
      else if (!ids)
        expect([page, link, (await server.nobody.call("GET", pathname)).status]).toEqual([page, link, 200]);
    }
  });
});
