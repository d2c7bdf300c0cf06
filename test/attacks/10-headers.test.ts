/** The security headers of every response, and the warning about an open network at startup. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { BUNDLED, type Server, startServer } from "../e2e/server";
import type { Client } from "../http/client";
import { wav } from "../http/media";
import { NO_ID, outcome } from "../http/outcome";
import { temporaryFolder } from "../temporary-folder";
import { type AttackedServer, startAttackedServer } from "./attacked-server";

let server: AttackedServer;
let user: Client;
beforeAll(async () => {
  server = await startAttackedServer({ CORS_ORIGINS: "https://studio.example" });
  user = await server.user();
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

const SHARE_PAGE = `/files/shares/${NO_ID}/page?expires=9999999999&signature=x`;
const PAGES = ["/", "/standalone.css", SHARE_PAGE, "/docs", "/docs/", "/docs/start.js", "/docs/swagger-ui.js"];

describe("every answer forbids a browser to guess, to run and to frame it", () => {
  test.each<[string, string, Record<string, string>]>([
    ...[
      ...PAGES,
      "/docs/swagger-ui.css",
      "/openapi.json",
      "/healthz",
      "/readyz",
      "/nothing",
      "/v1",
      "//v1//projects",
    ].map((path): [string, string, Record<string, string>] => ["GET", path, {}]),
    ["HEAD", "/files/assets/x/source?expires=1&signature=x", {}],
    ["GET", "/files/assets/x/source?expires=1&signature=x", {}],
    ["GET", "/v1/projects", { Authorization: "Bearer sk_x" }],
    ["POST", SHARE_PAGE, {}],
    ["POST", "/v1/projects", {}],
    ["PUT", "/v1/projects", {}],
    ["OPTIONS", `/v1/uploads/${NO_ID}`, {}],
    ["HEAD", `/v1/uploads/${NO_ID}`, { "Tus-Resumable": "1.0.0" }],
    ["PATCH", `/v1/uploads/${NO_ID}`, {}],
    ["OPTIONS", "/v1/projects", { Origin: "https://studio.example", "Access-Control-Request-Method": "POST" }],
    ["OPTIONS", "/v1/projects", { Origin: "https://evil.example", "Access-Control-Request-Method": "POST" }],
  ])("%s %s", async (method, path, headers) => {
    const answer = await fetch(`${server.url()}${path}`, { method, headers });
    await answer.arrayBuffer();
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    // The dashboard loads all of its files from this server.
    expect(policy).toContain(path === "/" ? "default-src 'self'" : "default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(answer.headers.get("strict-transport-security")).toBeNull();
  });

  test("of a signed-in user, uploads and files too; files are saved and not shown", async () => {
    const asset = await user.ready(await wav(2));
    const download = await fetch(asset.download_url!);
    const answers = [
      (await user.call("GET", "/v1/projects")).headers,
      (await user.call("GET", "/v1/projects?limit=0")).headers,
      (await user.call("DELETE", `/v1/assets/${NO_ID}`)).headers,
      (await user.call("HEAD", `/v1/uploads/${asset.id}`, { headers: user.tus() })).headers,
      download.headers,
      (await fetch(asset.download_url!, { headers: { Range: "bytes=999999999-" } })).headers,
    ];
    for (const headers of answers) {
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    }
    expect(download.headers.get("content-security-policy")).toStartWith("sandbox;");
    expect(download.headers.get("content-disposition")).toStartWith("attachment;");
    await download.arrayBuffer();
  }, 30_000);

  test("pages have nothing inline", async () => {
    for (const path of ["/", "/docs"]) {
      const html = await (await fetch(`${server.url()}${path}`)).text();
      expect(html).not.toMatch(/<style|style=|<script(?![^>]*\ssrc=)|\son\w+=/i);
    }
  });
});

/** A certificate for tests, made now. */
async function certificate(folder: string): Promise<{ TLS_CERT: string; TLS_KEY: string }> {
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const options = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const made = Bun.spawnSync(["openssl", "req", ...options, "-subj", "/CN=localhost", "-out", cert, "-keyout", key]);
  if (made.exitCode !== 0) throw new Error(made.stderr.toString());
  return { TLS_CERT: cert, TLS_KEY: key };
}

const WARNING = "server.exposed_without_tls";
const warned = (log: Record<string, unknown>[]) =>
  log.filter((line) => line.event === WARNING).map((line) => line.level);

test("under TLS responses have HSTS, and an open network causes no warning", async () => {
  await using folder = await temporaryFolder();
  await using secure = await startServer({ ...BUNDLED, HOST: "0.0.0.0", ...(await certificate(folder.path)) });
  for (const path of ["/", "/healthz", "/nothing", "/v1/projects"]) {
    const answer = await fetch(`${secure.url()}${path}`, { tls: { rejectUnauthorized: false } });
    expect(answer.headers.get("strict-transport-security")).toBe("max-age=86400");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
  }
  expect(warned(secure.log())).toEqual([]);
}, 30_000);

test("on this machine alone: no warning", () => {
  expect(warned(server.log())).toEqual([]);
});

test("behind a trusted proxy, which has the certificate: no warning, and X-Forwarded-Proto is believed from it alone", async () => {
  const headers = { "X-Forwarded-Proto": "https" };
  await using proxied = await startServer({ ...BUNDLED, HOST: "0.0.0.0", TRUSTED_PROXIES: "127.0.0.1" });
  expect(warned(proxied.log())).toEqual([]);
  const [trusted, stranger] = await Promise.all(
    [proxied.url(), server.url()].map((url) => fetch(`${url}/healthz`, { headers })),
  );
  expect(trusted!.headers.get("strict-transport-security")).toBe("max-age=86400");
  expect(stranger!.headers.get("strict-transport-security")).toBeNull();
});

describe("open without TLS", () => {
  let open: Server;
  beforeAll(async () => {
    open = await startServer({ ...BUNDLED, HOST: "0.0.0.0", WEBHOOKS_ALLOW_LOOPBACK: "true" });
  }, 60_000);
  afterAll(() => open[Symbol.asyncDispose]());

  test("a warning", () => {
    expect(warned(open.log())).toEqual(["warn"]);
  });

  test("an answer that is repeated for its Idempotency-Key shows no secret, and none is stored", async () => {
    const owner = await open.user();
    const options = {
      json: { url: "http://127.0.0.1:8080/hook", event_types: ["cut.completed"] },
      headers: { "Idempotency-Key": "once" },
    };
    const made = await owner.call<{ id: string; secret: string }>("POST", "/v1/webhook-endpoints", options);
    expect(outcome(made)).toBe("201");
    const again = await owner.call<{ id: string; secret: null }>("POST", "/v1/webhook-endpoints", options);
    expect(made.body.secret).toStartWith("whsec_");
    expect(again.body).toEqual({ ...made.body, secret: null });
    const rows = await open.query<{ body: string }>("SELECT body FROM idempotency");
    expect(rows).toHaveLength(1);
    expect(rows[0]!.body).not.toContain("whsec_");
  }, 30_000);
});
