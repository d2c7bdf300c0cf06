/**
 * Workers: a stolen or revoked token, links of other workers, floods, and the secrets that a reader of Redis learns.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { fullOr } from "../full-size";
import { until } from "../until";
import { executionPath } from "../worker-client";
import { openConnection, rawRequest } from "./raw-request";
import {
  anna,
  attack,
  attacks,
  bert,
  call,
  completed,
  filesOf,
  film,
  MARK,
  monitor,
  other,
  redis,
  revoke,
  sendOutput,
  sendResult,
  server,
  startRender,
  stateOf,
  TIMEOUT_MS,
  takeRender,
  useWorkerAttacks,
} from "./worker-attacks";

const MIB = 1024 ** 2;

useWorkerAttacks();

attacks("a join token", () => {
  test(
    "works no more once it is revoked, nor do the links of its executions, and the step is enqueued again",
    async () => {
      const thief = await attack();
      const { render, ticket, manifest } = await takeRender(thief);
      const source = manifest.files.find(({ role }) => role === "input")!.name;
      expect((await call("GET", executionPath(ticket, "files", source))).status).toBe(200);
      await revoke(thief);
      const honest = await attack();
      const again = await honest.worker.ticket(redis);
      expect(again.execution).not.toBe(ticket.execution);
      expect((await thief.worker.heartbeat()).status).toBe(401);
      expect((await thief.worker.join()).status).toBe(401);
      expect((await call("GET", executionPath(ticket, "files", source))).status).toBe(404);
      expect((await sendOutput(ticket, "output.mp4", new Uint8Array(10))).status).toBe(404);
      expect((await sendResult(ticket, completed("output.mp4", new Uint8Array(10)))).status).toBe(404);
      const json = { workerId: thief.worker.workerId, bootId: thief.worker.bootId };
      // The link of the execution that another worker has now does not help the thief either.
      expect((await call("POST", executionPath(again, "start"), { json })).status).toBe(409);
      expect(await stateOf(anna, render)).toBe("processing");
      server.expectUnharmed({ maxProbeMs: 500 });
    },
    TIMEOUT_MS,
  );

  test(
    "that nobody created is refused, however often, and a long one is not hashed",
    async () => {
      const tokens = Array.from({ length: fullOr(5_000, 500) }, (_, n) => (n % 2 ? "x".repeat(n * 10) : `wt_${n}`));
      const json = { workerId: crypto.randomUUID(), bootId: crypto.randomUUID(), freeBytes: 1, running: [] };
      const statuses = new Set<number>();
      for (let at = 0; at < tokens.length; at += 50)
        for (const { status } of await Promise.all(
          tokens.slice(at, at + 50).map((token) =>
            call("POST", "/workers/heartbeat", {
              json,
              headers: { Authorization: `Bearer ${token.slice(0, 4_000)}` },
            }),
          ),
        ))
          statuses.add(status);
      expect([...statuses]).toEqual([401]);
      expect((await call("POST", "/workers/heartbeat", { json })).status).toBe(401);
      expect(
        (await call("POST", "/workers/heartbeat", { json, headers: { Authorization: `Bearer ${anna.key}` } })).status,
      ).toBe(401);
      server.expectUnharmed({ maxProbeMs: 500 });
    },
    TIMEOUT_MS,
  );
});

attacks("links of executions", () => {
  test(
    "lead to the files of their own step only",
    async () => {
      const attacker = await attack();
      const first = await takeRender(attacker);
      const second = await takeRender(attacker, bert, other, [first.ticket.execution]);
      const foreign = new URL(second.ticket.url).search;
      const { pathname } = new URL(first.ticket.url);
      const sizeOf = (files: typeof first.manifest.files) => files.find(({ role }) => role === "input")!.bytes;
      expect(sizeOf(first.manifest.files)).not.toBe(sizeOf(second.manifest.files));
      for (const { name, bytes, role } of first.manifest.files.filter((file) => file.role === "input")) {
        const own = await fetch(new URL(executionPath(first.ticket, "files", name), server.url()));
        expect([role, (await own.bytes()).length]).toEqual(["input", bytes]);
        // The signature of one execution for another one.
        expect((await call("GET", `${pathname}/files/${name}${foreign}`)).status).toBe(404);
      }
      const { id } = other;
      for (const name of [
        ...[
          "offcut.db",
          "secrets.json",
          "../offcut.db",
          "../../offcut.db",
          "..%2f..%2foffcut.db",
          "%2e%2e/secrets.json",
        ],
        ...[id, `../${id}/source`, `../../media/${id}/source`, "/etc/passwd", "source\0.mp4", ".", ""],
      ]) {
        expect([name, (await call("GET", executionPath(first.ticket, "files", name))).status]).toEqual([name, 404]);
        const target = `${pathname}/files/${name.replace("\0", "%00")}${new URL(first.ticket.url).search}`;
        const raw = await rawRequest(server.url(), "GET", target, {});
        expect([target, raw.status]).toEqual([target, 404]);
      }
      // Rejected both without a signature and with the signature of another resource.
      for (const search of ["", "?signature=", `?signature=${"0".repeat(43)}`, new URL(film.download_url!).search])
        expect((await call("POST", `${pathname}/start${search}`, { json: {} })).status).toBe(404);
      const stolen = new URL(film.download_url!);
      stolen.search = new URL(first.ticket.url).search;
      expect((await fetch(stolen)).status).not.toBe(200);
      server.expectUnharmed({ maxProbeMs: 500 });
    },
    TIMEOUT_MS,
  );

  test(
    "belong to the worker whose ticket it was, and to one start of it",
    async () => {
      const [owner, thief] = [await attack(), await attack()];
      await startRender();
      const [holder, outsider] = await Promise.any([
        owner.worker.ticket(redis).then((ticket) => [{ ...owner, ticket }, thief] as const),
        thief.worker.ticket(redis).then((ticket) => [{ ...thief, ticket }, owner] as const),
      ]);
      const start = (workerId: string, bootId: string) =>
        call("POST", executionPath(holder.ticket, "start"), { json: { workerId, bootId } });
      expect((await start(outsider.worker.workerId, outsider.worker.bootId)).status).toBe(409);
      expect((await start(holder.worker.workerId, outsider.worker.bootId)).status).toBe(409);
      expect((await start(holder.worker.workerId, holder.worker.bootId)).status).toBe(200);
      expect((await start(holder.worker.workerId, holder.worker.bootId)).status).toBe(200);
    },
    TIMEOUT_MS,
  );
});

attacks("a flood", () => {
  test(
    "of bytes in an upload ends at the announced length",
    async () => {
      const attacker = await attack();
      const { render, ticket } = await takeRender(attacker);
      const path = executionPath(ticket, "outputs", "output.mp4");
      const headers =
        "Content-Type: application/offset+octet-stream\r\nUpload-Offset: 0\r\nUpload-Length: 1000\r\nTransfer-Encoding: chunked";
      const connection = await openConnection(server.url(), `PATCH ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`);
      let isClosed = false;
      void connection.closed.then(() => {
        isClosed = true;
      });
      const block = Buffer.concat([Buffer.from(`${MIB.toString(16)}\r\n`), Buffer.alloc(MIB), Buffer.from("\r\n")]);
      let sent = 0;
      for (; sent < 500 && !isClosed && connection.received() === ""; sent++)
        if (!connection.socket.write(block))
          await Promise.race([new Promise((resolve) => connection.socket.once("drain", resolve)), connection.closed]);
      connection.socket.destroy();
      expect(connection.received()).not.toContain(" 204 ");
      const sizes = await Promise.all((await filesOf(render)).map((name) => Bun.file(join(server.data, name)).stat()));
      expect(Math.max(0, ...sizes.filter((one) => one.isFile()).map(({ size }) => size))).toBeLessThanOrEqual(1_000);
      server.expectUnharmed({ maxProbeMs: 500 });
    },
    TIMEOUT_MS,
  );

  test(
    "of heartbeats, each with as many executions as one may name, harms nobody",
    async () => {
      const attacker = await attack();
      const running = Array.from({ length: 512 }, () => crypto.randomUUID());
      for (let at = 0; at < fullOr(20_000, 1_000); at += 50) {
        const replies = await Promise.all(
          Array.from({ length: 50 }, (_, n) => attacker.worker.heartbeat(n % 5 === 0 ? running : [])),
        );
        expect(replies.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
      }
      const tooMany = Array.from({ length: 513 }, () => crypto.randomUUID());
      expect((await attacker.worker.heartbeat(tooMany)).status).toBe(422);
      server.expectUnharmed({ maxProbeMs: 500 });
    },
    TIMEOUT_MS,
  );
});

attacks("Redis", () => {
  test(
    "contains no text of users and no secret but the links of executions",
    async () => {
      const attacker = await attack();
      const { ticket } = await takeRender(attacker);
      const secrets = (await Bun.file(join(server.data, "secrets.json")).json()) as Record<string, unknown>;
      await until("the commands of the ticket", () => monitor.text().includes(ticket.execution));
      const seen = monitor.text();
      const signature = new URL(ticket.url).searchParams.get("signature")!;
      expect(seen).toContain(signature);
      const values = Object.values(secrets).filter((value) => typeof value === "string");
      expect(values.length).toBeGreaterThan(0);
      for (const hidden of [MARK, "example.test", anna.key!, attacker.token, film.id, other.id, anna.userId, ...values])
        expect(seen).not.toContain(hidden as string);
    },
    TIMEOUT_MS,
  );
});
