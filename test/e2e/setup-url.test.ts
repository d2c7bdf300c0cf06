/**
 * The set-up of a new server with the executable: the link is printed on request, is the same with and without a
 * server, and is in no log.
 */
import { expect, test } from "bun:test";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "../http/client";
import { until } from "../until";
import { runOffcut } from "./offcut";
import { admin, startServer } from "./server";

const PASSWORD = "correct horse battery";

test("a new server is set up with the link that setup-url prints", async () => {
  // The log has the most lines at this level.
  await using server = await startServer({ LOG_LEVEL: "debug" });
  const { url } = await admin<{ url: string }>(server.folder, "setup-url");
  const token = url.split("#")[1]!;
  expect(url).toBe(`${server.url()}/setup#${token}`);
  const path = join(server.data, "setup-url");
  expect(((await stat(path)).mode & 0o777).toString(8)).toBe("600");
  const log = JSON.stringify(server.log());
  expect(log).toContain("setup.required");
  expect(log).not.toContain(token);

  await server.kill();
  expect((await admin<{ url: string }>(server.folder, "setup-url")).url).toEndWith(`/setup#${token}`);
  await server.start();
  const json = { token, email: "ada@studio.example", password: PASSWORD };
  const nobody = createClient(server.url, null, "");
  const done = await nobody.call<{ token: string }>("POST", "/api/v1/auth/setup", { json });
  expect(done.status).toBe(201);
  const ada = createClient(server.url, done.body.token, "");
  expect((await ada.call("GET", "/api/v1/users/me")).status).toBe(200);
  // The log arrives after the response.
  const isRead = { level: "debug", event: "request.completed", path: "/api/v1/users/me", status: 200 };
  const lines = await until("the log of the request", () => {
    const log = server.log();
    return log.some((line) => Bun.deepMatch(isRead, line)) && log;
  });
  for (const secret of [token, done.body.token, PASSWORD]) expect(JSON.stringify(lines)).not.toContain(secret);

  const again = await runOffcut(["setup-url"], { folder: server.folder });
  expect([again.code, again.stdout]).toEqual([1, ""]);
  expect(again.stderr).toStartWith("offcut setup-url: This server is already set up");

  // The session survives a crash.
  await server.kill();
  await server.start();
  expect((await ada.call("GET", "/api/v1/users/me")).status).toBe(200);
  expect(JSON.stringify(server.log())).not.toContain("setup.required");
}, 120_000);
