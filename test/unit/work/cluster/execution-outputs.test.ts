/** The files that a worker sends for an execution. */
import { describe, expect, test } from "bun:test";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../../../src/domain/errors";
import { ExecutionLost, JobAborted } from "../../../../src/domain/jobs";
import { WrongFilesError } from "../../../../src/work/cluster/incoming-files";
import { BOOT, completed, executionBench, part, refusal, sent } from "./execution-bench";

describe("files", () => {
  const wrong: [string, ReturnType<typeof sent>][] = [
    ["another checksum", { ...sent("output.mp4", "film"), sha256: "0".repeat(64) }],
    ["another size", { ...sent("output.mp4", "film"), bytes: 3 }],
    ["a file that was not sent", sent("output.mov", "film")],
  ];
  test.each(wrong)("with %s are refused, and can be sent once more", async (_, named) => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    await b.send(run.id, "output.mp4", "film");
    const refused = await b.executions.finish(run.id, completed(named)).catch((error) => error);
    expect(refused).toBeInstanceOf(WrongFilesError);
    expect(refused.names).toEqual([named.name]);
    expect(b.history).toEqual([]);
    if (named.name === "output.mp4") expect(b.executions.getOutputOffset(run.id, "output.mp4")).toBe(0);
    if (named.name === "output.mp4") await b.send(run.id, "output.mp4", "film");
    await b.executions.finish(run.id, completed(sent("output.mp4", "film")));
    expect((await run.ended).error).toBeNull();
  });

  test("that are wrong again and again take the execution from the worker", async () => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    for (let n = 0; n < 3; n++) {
      await b.send(run.id, "output.mp4", "film");
      await b.executions.finish(run.id, completed(sent("output.mp4", "flim"))).catch(() => {});
    }
    expect((await run.ended).error).toBeInstanceOf(ExecutionLost);
  });

  test("resume where a part ended, whatever arrived of it", async () => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    const broken = part(0, 9, "abc", "def");
    broken.chunks = async function* () {
      yield Buffer.from("abc");
      throw new AppError("bad_request", "broken");
    };
    expect(await refusal(() => b.executions.writeOutput(run.id, "output.mp4", broken))).toBe("bad_request");
    expect(b.executions.getOutputOffset(run.id, "output.mp4")).toBe(3);
    expect(await refusal(() => b.executions.writeOutput(run.id, "output.mp4", part(0, 9, "abc")))).toBe("conflict");
    expect(await refusal(() => b.executions.writeOutput(run.id, "output.mp4", part(3, 8, "def")))).toBe("conflict");
    expect(await b.executions.writeOutput(run.id, "output.mp4", part(3, 9, "def", "ghi"))).toBe(9);
    await b.executions.finish(run.id, completed(sent("output.mp4", "abcdefghi")));
    expect(await Bun.file(join(b.outputDir, "output.mp4")).text()).toBe("abcdefghi");
  });

  test("whose first part arrives twice at once are complete", async () => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    const write = () => b.executions.writeOutput(run.id, "output.mp4", part(0, 4, "film"));
    for (const code of await Promise.all([refusal(write), refusal(write)]))
      expect(code).toBeOneOf(["none", "conflict"]);
    expect(b.executions.getOutputOffset(run.id, "output.mp4")).toBe(4);
    await b.executions.finish(run.id, completed(sent("output.mp4", "film")));
    expect(await Bun.file(join(b.outputDir, "output.mp4")).text()).toBe("film");
  });

  test("a new part takes over from one that no longer arrives", async () => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    const reached = Promise.withResolvers<void>();
    const chunks = async function* (signal: AbortSignal) {
      yield Buffer.from("fi");
      reached.resolve();
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
    const first = refusal(() => b.executions.writeOutput(run.id, "output.mp4", { ...part(0, 4), chunks }));
    await reached.promise;
    const second = b.executions.writeOutput(run.id, "output.mp4", part(2, 4, "lm"));
    expect([await first, await second]).toEqual(["conflict", 4]);
  });

  test.each(["../output.mp4", "output.mp4/", "output.mp4x", "other", "", "output.mp4\n"])(
    "named %j are not accepted",
    async (name) => {
      await using b = await executionBench();
      const run = b.run();
      b.executions.start(run.id, BOOT);
      expect(await refusal(() => b.send(run.id, name, "film"))).toBe("not_found");
      expect(await refusal(() => b.executions.getOutputOffset(run.id, name))).toBe("not_found");
      expect(await refusal(() => b.executions.getFile(run.id, name))).toBe("not_found");
    },
  );

  test("are no larger than announced, and no larger than allowed", async () => {
    await using b = await executionBench();
    const run = b.run();
    b.executions.start(run.id, BOOT);
    expect(await refusal(() => b.executions.writeOutput(run.id, "output.mp4", part(0, 101, "x")))).toBe(
      "payload_too_large",
    );
    expect(await refusal(() => b.executions.writeOutput(run.id, "output.mp4", part(0, 3, "abc", "d")))).toBe(
      "payload_too_large",
    );
  });

  test("of a checkpoint are in place before it is stored, and may be named again in the result", async () => {
    await using b = await executionBench();
    const seen: unknown[] = [];
    const run = b.run({
      checkpoint: async (checkpoint) => {
        seen.push(checkpoint, await Bun.file(join(b.outputDir, "output.mp4")).text());
      },
    });
    b.executions.start(run.id, BOOT);
    await b.send(run.id, "output.mp4", "film");
    const file = sent("output.mp4", "film");
    await b.executions.checkpoint(run.id, { kind: "probed" }, [file]);
    expect(seen).toEqual([{ kind: "probed" }, "film"]);
    await b.executions.finish(run.id, completed(file));
    expect((await run.ended).error).toBeNull();
  });

  test("of checkpoints that arrive at once are moved for one after the other", async () => {
    await using b = await executionBench();
    const seen: string[] = [];
    const run = b.run({
      checkpoint: async (checkpoint) => {
        seen.push(`${checkpoint} begins`);
        await Bun.file(join(b.outputDir, "output.mp4")).text();
        seen.push(`${checkpoint} ends`);
      },
    });
    b.executions.start(run.id, BOOT);
    await b.send(run.id, "output.mp4", "film");
    const file = sent("output.mp4", "film");
    await Promise.all(["audio", "video"].map((kind) => b.executions.checkpoint(run.id, kind, [file])));
    expect(seen).toEqual(["audio begins", "audio ends", "video begins", "video ends"]);
  });

  test("of a checkpoint that the server's own check refuses end the execution, and are not moved", async () => {
    await using b = await executionBench();
    const seen: unknown[] = [];
    const run = b.run({
      check: async (paths) => {
        for (const [name, path] of paths) seen.push([name, await Bun.file(path).text()]);
        if (seen.length > 0) throw new Error("it is no film");
      },
    });
    b.executions.start(run.id, BOOT);
    await b.executions.checkpoint(run.id, {}, []);
    await b.send(run.id, "output.mp4", "text");
    const file = sent("output.mp4", "text");
    expect(await refusal(() => b.executions.checkpoint(run.id, {}, [file]))).toBe("not_found");
    expect((await run.ended).error?.message).toBe("it is no film");
    expect([seen, await Bun.file(join(b.outputDir, "output.mp4")).exists()]).toEqual([[["output.mp4", "text"]], false]);
  });

  test("are moved in the order of the rules, and not after one that cannot be", async () => {
    await using b = await executionBench();
    const rule = (name: string) => ({ name, dir: b.outputDir, maxBytes: 100 });
    const run = b.run({ outputs: [rule("energy.steps"), rule("listening.json")] });
    b.executions.start(run.id, BOOT);
    for (const name of ["listening.json", "energy.steps"]) await b.send(run.id, name, name);
    // A folder is in the way.
    await mkdir(join(b.outputDir, "energy.steps", "full"), { recursive: true });
    const named = ["listening.json", "energy.steps"].map((name) => sent(name, name));
    expect(await refusal(() => b.executions.checkpoint(run.id, {}, named))).toBe("not_found");
    expect((await run.ended).error).toMatchObject({ syscall: "rename" });
    expect(await Bun.file(join(b.outputDir, "listening.json")).exists()).toBe(false);
  });

  test("move nowhere after the execution has ended: one that is on the move arrives first", async () => {
    await using b = await executionBench();
    let asked = 0;
    // The server asks once for the order and once for the folder of each file.
    const name = Object.assign(/^(energy|listening)$/, {
      test: (text: string) => {
        if (text === "energy" && ++asked === 2) queueMicrotask(() => run.abort.abort(new JobAborted("cancelled")));
        return text === "energy" || text === "listening";
      },
    });
    const run = b.run({ outputs: [{ name, dir: b.outputDir, maxBytes: 100 }] });
    b.executions.start(run.id, BOOT);
    for (const one of ["energy", "listening"]) await b.send(run.id, one, one);
    asked = 0;
    const named = ["energy", "listening"].map((one) => sent(one, one));
    const refused = refusal(() => b.executions.checkpoint(run.id, {}, named));
    expect((await run.ended).error).toMatchObject({ reason: "cancelled" });
    expect(await readdir(b.outputDir)).toEqual(["energy"]);
    expect(await refused).toBe("not_found");
    expect(await readdir(b.outputDir)).toEqual(["energy"]);
  });

  test("an error of storing a checkpoint ends the execution with it", async () => {
    await using b = await executionBench();
    const run = b.run({ checkpoint: () => Promise.reject(new JobAborted("lost")) });
    b.executions.start(run.id, BOOT);
    expect(await refusal(() => b.executions.checkpoint(run.id, {}, []))).toBe("not_found");
    expect((await run.ended).error).toMatchObject({ reason: "lost" });
  });
});
