/** The check of the head: connections, certificates, and responses of other servers. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { checkHead, isOfWorker } from "../../../src/cli/doctor-head";
import { createCertificate } from "../../certificate";
import { temporaryFolder } from "../../temporary-folder";

const reply = (change: object = {}) =>
  Response.json({ name: "desk", version: "1.2.3", isOnline: false, time: Date.now(), ...change });

function serveHead(fetch: () => Response, tls?: { cert: string; key: string }) {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch, ...(tls && { tls }) });
  return { port: server.port!, [Symbol.asyncDispose]: () => server.stop(true) };
}

const check = (head: string | null, { token = "wt_x" as string | null, ca = null as string | null } = {}) =>
  checkHead({ head, token, ca }).catch((error: Error) => ({ state: "broken", about: error.message }));

test("one of the settings of a worker makes it one, and a missing one is named", async () => {
  expect([isOfWorker({ head: null, token: null }), isOfWorker({ head: "http://h", token: null })]).toEqual([
    false,
    true,
  ]);
  expect((await check(null)).about).toStartWith("head is missing");
  expect((await check("http://127.0.0.1:9", { token: null })).about).toStartWith("token is missing");
});

test("a head that accepts the token", async () => {
  await using head = serveHead(() => reply());
  const url = `http://127.0.0.1:${head.port}`;
  const about = `${url}, version 1.2.3, accepts the token of desk, whose worker is offline`;
  expect(await check(url)).toEqual({ state: "ok", about });
});

test("another clock and a connection without TLS are warnings", async () => {
  await using head = serveHead(() => reply({ time: Date.now() - 600_000 }));
  const late = await check(`http://127.0.0.1:${head.port}`);
  expect([late.state, late.about]).toEqual([
    "warning",
    expect.stringMatching(/the clock of this machine is (59|60)\d s ahead of that of the head/),
  ]);
  // Not a loopback address, but still this machine.
  const plain = await check(`http://0.0.0.0:${head.port}`);
  expect([plain.state, plain.about]).toEqual([
    "warning",
    expect.stringContaining("unencrypted, use https://; the clock"),
  ]);
});

test("certificates: one that is not trusted, its authority, and an invalid file", async () => {
  await using folder = await temporaryFolder();
  const tls = await createCertificate(folder.path);
  await using head = serveHead(() => reply(), tls);
  const url = `https://localhost:${head.port}`;
  expect((await check(url)).about).toContain("set ca to the PEM file of its certificate authority");
  expect((await check(url, { ca: join(folder.path, "cert.pem") })).state).toBe("ok");
  await Bun.write(join(folder.path, "empty.pem"), "");
  expect((await check(url, { ca: join(folder.path, "empty.pem") })).about).toContain(
    "Cannot read the certificate of ca",
  );
  expect((await check(`http://localhost:${head.port}`)).about).toContain("head starts with https://");
});

test.each<[string, () => Response, string]>([
  ["redirects", () => Response.redirect("https://elsewhere.example/"), "set head to the target address"],
  ["has another version", () => Response.json({ error: { message: "Other." } }, { status: 409 }), "Other."],
  ["is a page", () => new Response("<html>"), "does not respond like a head"],
  ["is another service", () => Response.json({ ok: true }), "does not respond like a head"],
  ["does not know workers", () => new Response("", { status: 404 }), "no Offcut server, has no redis_url"],
  ["is overloaded", () => new Response("", { status: 503 }), "responded with status 503"],
])("an address that %s", async (_, answer, about) => {
  await using head = serveHead(answer);
  expect(await check(`http://127.0.0.1:${head.port}`)).toEqual({
    state: "broken",
    about: expect.stringContaining(about),
  });
});

test("an address where nothing listens", async () => {
  const { port, ...closed } = serveHead(() => reply());
  await closed[Symbol.asyncDispose]();
  expect((await check(`http://127.0.0.1:${port}`)).about).toContain("Nothing listens at this address");
});
