/** Workers: forged results, and results of ended executions. */
import { expect, test } from "bun:test";
import { silentVideo, video } from "../http/media";
import { until } from "../until";
import { executionPath } from "../worker-client";
import {
  anna,
  attack,
  attacks,
  call,
  completed,
  FACTS,
  filesOf,
  MARK,
  redis,
  sendOutput,
  sendResult,
  server,
  stateOf,
  TIMEOUT_MS,
  takeRender,
  useWorkerAttacks,
} from "./worker-attacks";

const MIB = 1024 ** 2;

useWorkerAttacks();

attacks("a forged result", () => {
  test(
    "with wrong files is refused, and the step runs again",
    async () => {
      const attacker = await attack();
      const { render, ticket, manifest } = await takeRender(attacker);
      const before = await filesOf(render);
      const bytes = new Uint8Array(1_000).fill(7);
      for (const name of [
        ...[
          "../output.mp4",
          "..",
          "a/b",
          "/tmp/x",
          "output.mp4\0",
          "output.mp4/",
          "OUTPUT.MP4",
          "output.mov",
          "source",
        ],
        ...["probed.json", "x".repeat(10_000), "output.mp4.part", ...manifest.files.map((file) => file.name)],
      ])
        expect([name.slice(0, 20), (await sendOutput(ticket, name, bytes)).status]).toEqual([name.slice(0, 20), 404]);
      for (const [name, value, refusal] of [
        ["Upload-Length", "9".repeat(15), 413],
        ["Upload-Length", "9".repeat(16), 413],
        ["Upload-Length", "-1", 400],
        ["Upload-Length", "1e3", 400],
        ["Upload-Offset", "5", 409],
        ["Content-Type", "application/json", 415],
      ] as const) {
        const { status } = await sendOutput(ticket, "output.mp4", bytes, { [name]: value });
        expect([name, value, status]).toEqual([name, value, refusal]);
      }
      const tooMany = Array.from({ length: 5_000 }, (_, n) => ({ name: `f${n}`, bytes: 1, sha256: "0".repeat(64) }));
      for (const json of [
        null,
        [],
        { status: "won" },
        { status: "completed", files: tooMany },
        { status: "completed", output: FACTS, files: [{ name: "output.mp4", bytes: 1e300, sha256: "0".repeat(64) }] },
        { status: "completed", output: FACTS, files: [{ name: "output.mp4", bytes: 1, sha256: "nothing" }] },
      ])
        expect((await sendResult(ticket, json)).status).toBe(422);
      expect((await sendResult(ticket, { status: "completed", output: "x".repeat(3 * MIB) })).status).toBe(413);
      expect(await stateOf(anna, render)).toBe("processing");
      // The head names the differing file, and repeats the step if it stays wrong.
      for (const answer of [422, 422, 422, 404]) {
        await sendOutput(ticket, "output.mp4", bytes);
        const { files, ...result } = completed("output.mp4", bytes);
        const wrong = { ...result, files: [{ ...files[0], sha256: "0".repeat(64) }] };
        expect((await sendResult(ticket, wrong)).status).toBe(answer);
      }
      const again = await attacker.worker.ticket(redis, [ticket.execution]);
      expect(await stateOf(anna, render)).toBe("processing");
      expect((await filesOf(render)).filter((path) => path.includes("output"))).toEqual(
        before.filter((path) => path.includes("output")),
      );
      expect(again.execution).not.toBe(ticket.execution);
      server.expectUnharmed({ maxProbeMs: 500 });
    },
    TIMEOUT_MS,
  );

  test.each<[string, () => Promise<Uint8Array>, unknown]>([
    ["a file that is no media", async () => new Uint8Array(5_000).fill(65), FACTS],
    ["another recording with other frames", () => silentVideo(2), FACTS],
    ["an empty file", async () => new Uint8Array(0), FACTS],
    ["facts of no render", () => video(4), { strategy: MARK, encodedShare: 9 }],
  ])(
    "%s does not become a render",
    async (_, make, output) => {
      const attacker = await attack();
      const { render, ticket } = await takeRender(attacker);
      const bytes = await make();
      await sendOutput(ticket, "output.mp4", bytes);
      await sendResult(ticket, { ...completed("output.mp4", bytes), output });
      // It fails, or is tried again.
      const isRetried = () =>
        attacker.worker.ticket(redis, [ticket.execution]).then(
          () => true,
          () => false,
        );
      await Promise.race([
        until("an end of the render", async () => (await stateOf(anna, render)) !== "processing"),
        isRetried(),
      ]);
      expect(await stateOf(anna, render)).not.toBe("completed");
      await anna.must("DELETE", `/v1/renders/${render.id}`);
      server.expectUnharmed({ maxProbeMs: 500 });
    },
    TIMEOUT_MS,
  );

  test(
    "after the end of the execution has no effect",
    async () => {
      const attacker = await attack();
      const { render, ticket } = await takeRender(attacker);
      const bytes = new Uint8Array(await video(4));
      expect((await sendOutput(ticket, "output.mp4", bytes)).status).toBe(204);
      await anna.must("DELETE", `/v1/renders/${render.id}`);
      const { body } = await until("the order to abort", async () => {
        const reply = await attacker.worker.heartbeat([ticket.execution]);
        return (reply.body as { abort: string[] }).abort.length > 0 ? reply : null;
      });
      expect((body as { abort: string[] }).abort).toEqual([ticket.execution]);
      expect((await sendResult(ticket, completed("output.mp4", bytes))).status).toBe(404);
      expect((await sendOutput(ticket, "output.mp4", bytes)).status).toBe(404);
      expect(
        (await call("POST", executionPath(ticket, "checkpoint"), { json: { checkpoint: {}, files: [] } })).status,
      ).toBe(404);
      expect((await anna.call("GET", `/v1/renders/${render.id}`)).status).toBe(404);
      await until("no files of the render", async () => (await filesOf(render)).length === 0);
    },
    TIMEOUT_MS,
  );
});
