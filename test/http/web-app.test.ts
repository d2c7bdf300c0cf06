/** The page of the dashboard: the files that its headers preload, and the caching of responses. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join, resolve } from "node:path";
import { FIRST_READS } from "../../web/app/paths";
import { temporaryFolder } from "../temporary-folder";
import { until } from "../until";
import { startSession } from "./accounts";
import { type Harness, harness, PATIENCE_MS } from "./harness";

const PROJECT = resolve(import.meta.dir, "../..");

setDefaultTimeout(PATIENCE_MS);

let server: Harness;
beforeAll(async () => {
  server = await harness();
});
afterAll(() => server[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}) => fetch(server.url() + path, { headers });
const signIn = async () => {
  const session = await startSession(server, await server.user());
  return { session, headers: { Cookie: `service_session=${session.key}` } };
};
const readLinks = (response: Response) =>
  [...(response.headers.get("link") ?? "").matchAll(/<([^>]+)>; rel=(\w+)/g)].map(([, url, rel]) => ({ url, rel }));

describe("the page", () => {
  test("names what it loads, to a browser with a session", async () => {
    const { headers } = await signIn();
    const links = readLinks(await get("/assets/01a1fc62-d8c4-75df-a939-e3013b9e8bc0", headers));
    const urls = links.map(({ url }) => url!);
    for (const read of FIRST_READS) expect(urls).toContain(read);
    const scripts = links.filter(({ rel }) => rel === "modulepreload").map(({ url }) => url!);
    expect(scripts.length).toBeGreaterThan(1);
    for (const url of urls) expect([url, (await get(url, headers)).status]).toEqual([url, 200]);
    const [main] = scripts;
    expect(await (await get("/")).text()).toContain(`src="${main}"`);
    // Only those of this page.
    const others = readLinks(await get("/jobs", headers)).map(({ url }) => url!);
    expect(others).toContain(main!);
    expect(others).not.toEqual(urls);
  });

  test("names nothing without a session, nor where none is needed", async () => {
    const { headers, session } = await signIn();
    expect(readLinks(await get("/"))).toEqual([]);
    expect(readLinks(await get("/", { Cookie: "service_session=no" }))).toEqual([]);
    expect(readLinks(await get("/sign-in", headers))).toEqual([]);
    expect(readLinks(await get("/", headers))).not.toEqual([]);
    await session.must("POST", "/api/v1/auth/logout");
    expect(readLinks(await get("/", headers))).toEqual([]);
  });

  test("is validated, with and without a session apart", async () => {
    const { headers } = await signIn();
    const [without, within] = [await get("/"), await get("/", headers)];
    const [etag, sessionEtag] = [without.headers.get("etag")!, within.headers.get("etag")!];
    expect(etag).not.toBe(sessionEtag);
    expect(without.headers.get("cache-control")).toBe("no-cache");
    expect((await get("/", { "If-None-Match": etag })).status).toBe(304);
    expect((await get("/", { ...headers, "If-None-Match": sessionEtag })).status).toBe(304);
    // A browser that signs out gets the answer without the hints.
    expect((await get("/", { "If-None-Match": sessionEtag })).status).toBe(200);
  });
});

test("files of the bundle are kept, and its index is not served", async () => {
  const script = /src="(\/app\/main[^"]+)"/.exec(await (await get("/")).text())![1]!;
  for (const encoding of ["gzip", "br", "identity"]) {
    const response = await get(script, { "Accept-Encoding": encoding });
    expect(response.headers.get("cache-control")).toContain("immutable");
    expect((await response.text()).length).toBeGreaterThan(10_000);
  }
  for (const [accepted, encoding] of [
    ["gzip, deflate, br", "br"],
    ["GZIP ; q=0.5", "gzip"],
    ["gzip , br;q=0.00", "gzip"],
    ["br; q=0", null],
    [`br${" ".repeat(10_000)};q=1`, null],
  ] as const)
    expect((await get(script, { "Accept-Encoding": accepted })).headers.get("content-encoding")).toBe(encoding);
  expect((await get("/app/pages.json")).status).toBe(404);
  expect((await get("/app/index.html")).status).toBe(404);
});

test("the development server signs in to an account with a recording, and serves a bundle that was replaced", async () => {
  await using folder = await temporaryFolder();
  const command = [process.execPath, "src/build/dev.ts", "--seed", "--port", "0", "--data-dir", folder.path];
  // The server refuses unknown settings, such as those of tests.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("OFFCUT_")));
  const development = Bun.spawn(command, { cwd: PROJECT, env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    let output = "";
    const follow = async () => {
      for await (const chunk of development.stdout.pipeThrough(new TextDecoderStream())) output += chunk;
    };
    void follow();
    await until("the account", () => output.includes("which signs in"));
    const signIn = await fetch(/Open (\S+), which signs in/.exec(output)![1]!, { redirect: "manual" });
    const address = signIn.headers.get("location")!;
    const Cookie = signIn.headers.get("set-cookie")!.split(";")[0]!;
    const { items } = (await (await fetch(`${address}/api/v1/assets`, { headers: { Cookie } })).json()) as {
      items: { filename: string }[];
    };
    expect(items.map(({ filename }) => filename)).toEqual(["talk.mp4"]);
    const readPage = async () => (await fetch(`${address}/sign-in`)).text();
    expect(await readPage()).toMatch(/<meta name="build" content="\d+"/);
    await Bun.write(join(PROJECT, "dist/dev/web/index.html"), "replaced");
    expect(await readPage()).toBe("replaced");
  } finally {
    development.kill();
    expect(await development.exited).toBe(0);
  }
});
