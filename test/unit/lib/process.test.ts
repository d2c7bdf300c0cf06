import { describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { getPriority } from "node:os";
import { join } from "node:path";
import { killAllChildren, spawnChild } from "../../../src/lib/process";
import { until } from "../../until";

const shell = (script: string) => ["/bin/sh", "-c", script];

describe("a child process", () => {
  test("passes on its output, its exit code and the tail of its standard error", async () => {
    const lines: string[] = [];
    const child = spawnChild({
      command: shell("echo out; printf 'one\\rtwo\\nthree' >&2; exit 3"),
      stdout: "pipe",
      onStderrLine: (line) => lines.push(line),
    });
    expect(await new Response(child.stdout).text()).toBe("out\n");
    expect(await child.exited).toEqual({ code: 3, signal: null });
    expect(lines).toEqual(["one", "two", "three"]);
    expect(child.stderrTail()).toEndWith("three");
  });

  test("has only the given environment", async () => {
    const child = spawnChild({ command: ["/usr/bin/env"], env: { GIVEN: "yes" }, stdout: "pipe" });
    const names = (await new Response(child.stdout).text()).split("\n").map((line) => line.split("=")[0]);
    expect(names).toContain("GIVEN");
    expect(names).not.toContain("PATH");
    expect(names).not.toContain("HOME");
  });

  test("has a lower priority than this process", async () => {
    const child = spawnChild({ command: ["/usr/bin/nice"], stdout: "pipe" });
    // The child must not start before its priority is set, however long this process takes.
    expect(Number(await new Response(child.stdout).text())).toBe(Math.min(19, getPriority() + 5));
  });

  test("of a command that somebody waits for has the command's priority", async () => {
    const module = JSON.stringify(join(import.meta.dir, "../../../src/lib/process.ts"));
    const script = `
      const { keepChildPriority, spawnChild } = await import(${module});
      keepChildPriority();
      const child = spawnChild({ command: ["/usr/bin/nice"], stdout: "pipe" });
      console.log(await new Response(child.stdout).text());
    `;
    const command = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
    expect(Number(await new Response(command.stdout).text())).toBe(getPriority());
  });

  test("of a drill has more time, but not days; the priority of a process does not matter", async () => {
    const module = JSON.stringify(join(import.meta.dir, "../../../src/lib/process.ts"));
    const run = async (begin: string, seconds: number) => {
      const script = `
        const { spawnChild, stretchLimit, stretchLimits } = await import(${module});
        ${begin}
        const child = spawnChild({ command: ["/bin/sleep", "${seconds}"], limits: { wallSeconds: 1 } });
        console.log(JSON.stringify([await child.exited, child.endedBy(), [3000, 3_600_000].map(stretchLimit)]));
      `;
      const child = spawnChild({ command: [process.execPath, "-e", script], stdout: "pipe", priority: "lowest" });
      return JSON.parse(await new Response(child.stdout).text());
    };
    // On a busy machine, a process of the lowest priority runs its timer seconds late: the first program ends long
    // before the stretched limit of 30 s, and the second one long after its limit.
    const [stretched, usual] = await Promise.all([run("stretchLimits();", 1.5), run("", 60)]);
    expect(stretched).toEqual([{ code: 0, signal: null }, null, [90_000, 3_900_000]]);
    expect(usual).toEqual([{ code: null, signal: "SIGTERM" }, "wall", [3000, 3_600_000]]);
  });

  test("receives arguments literally, without shell parsing", async () => {
    const argument = "$(id) `id` ; * \n'\" -n";
    const child = spawnChild({ command: ["/usr/bin/printf", "%s", argument], stdout: "pipe" });
    expect(await new Response(child.stdout).text()).toBe(argument);
  });

  test("a missing program is an exit code, not an exception", async () => {
    expect((await spawnChild({ command: ["/nowhere/at-all"] }).exited).code).toBe(127);
  });

  test("writing applies backpressure, and no data is lost", async () => {
    const child = spawnChild({ command: ["/bin/cat"], stdin: "pipe", stdout: "pipe" });
    const feed = (async () => {
      for (let n = 0; n < 24; n++) await child.stdin.write(new Uint8Array(1 << 20).fill(n));
      await child.stdin.end();
    })();
    let size = 0;
    for await (const chunk of child.stdout) size += chunk.length;
    await feed;
    expect(size).toBe(24 << 20);
  });

  const countDescriptors = async () => (await readdir("/proc/self/fd")).length;

  test("a second output has a descriptor of its own, which is closed when it has been read", async () => {
    const before = await countDescriptors();
    const child = spawnChild({
      command: shell("head -c 3000000 /dev/zero >&4; echo first; echo second >&4"),
      stdout: "pipe",
      hasSecondOutput: true,
    });
    let size = 0;
    for await (const chunk of child.secondOutput) size += chunk.length;
    expect([size, await new Response(child.stdout).text()]).toEqual([3_000_007, "first\n"]);
    expect(await child.exited).toEqual({ code: 0, signal: null });
    await until("closed descriptors", async () => (await countDescriptors()) <= before);
  });

  test("what a child wrote to its outputs before it ended can be read afterwards", async () => {
    const before = await countDescriptors();
    const script = "head -c 50000 /dev/zero; head -c 50000 /dev/zero >&4";
    const child = spawnChild({ command: shell(script), stdout: "pipe", hasSecondOutput: true });
    expect(await child.exited).toEqual({ code: 0, signal: null });
    const outputs = [child.stdout, child.secondOutput].map((output) => Array.fromAsync<Uint8Array>(output));
    const sizes = (await Promise.all(outputs)).map((chunks) => Buffer.concat(chunks).length);
    expect(sizes).toEqual([50_000, 50_000]);
    await until("closed descriptors", async () => (await countDescriptors()) <= before);
  });

  test("a second output that nobody reads, or not to its end, does not outlive the child", async () => {
    const before = await countDescriptors();
    for (const isRead of [false, true]) {
      const child = spawnChild({ command: shell("head -c 9000000 /dev/zero >&4; sleep 60"), hasSecondOutput: true });
      if (isRead) for await (const chunk of child.secondOutput) if (chunk.length > 0) break;
      await child.kill();
      expect((await child.exited).signal).toBe("SIGTERM");
    }
    await until("closed descriptors", async () => (await countDescriptors()) <= before);
    const child = spawnChild({ command: shell("echo x >&4") });
    expect((await child.exited).code).not.toBe(0);
  });

  test("writing to a child that has ended fails", async () => {
    const child = spawnChild({ command: ["/bin/true"], stdin: "pipe" });
    await child.exited;
    await expect(child.stdin.write("x")).rejects.toThrow("EPIPE");
  });

  test("kill ends the whole group, children of the child included", async () => {
    const child = spawnChild({ command: shell("/bin/sleep 60 & echo $!; wait"), stdout: "pipe" });
    const reader = child.stdout.getReader();
    const grandchild = Number(new TextDecoder().decode((await reader.read()).value));
    await child.kill();
    expect((await child.exited).signal).toBe("SIGTERM");
    expect(child.endedBy()).toBe("kill");
    await until("the end of the grandchild", async () => !(await isRunning(grandchild)));
  });

  test("a child that ignores SIGTERM is killed two seconds later", async () => {
    const child = spawnChild({
      command: shell("trap '' TERM; echo ready; while :; do /bin/sleep 1; done"),
      stdout: "pipe",
    });
    await child.stdout.getReader().read();
    const started = Date.now();
    await child.kill();
    expect((await child.exited).signal).toBe("SIGKILL");
    // Includes the delay of a busy machine. Without the limit, it would never end.
    expect(Date.now() - started).toBeLessThan(10_000);
  });

  test("processes that ignore SIGTERM end with the child that does not", async () => {
    const child = spawnChild({
      command: shell("(trap '' TERM; echo ready; while :; do sleep 1; done) & wait"),
      stdout: "pipe",
    });
    const reader = child.stdout.getReader();
    await reader.read();
    await child.kill();
    expect((await child.exited).signal).toBe("SIGTERM");
    expect((await reader.read()).done).toBe(true);
  });

  test("the signal ends it; an aborted signal starts nothing", async () => {
    const stop = new AbortController();
    const child = spawnChild({ command: ["/bin/sleep", "60"], signal: stop.signal });
    stop.abort(new Error("enough"));
    expect((await child.exited).signal).toBe("SIGTERM");
    expect(() => spawnChild({ command: ["/bin/true"], signal: stop.signal })).toThrow("enough");
  });

  test("killAllChildren ends all running children", async () => {
    const children = [1, 2, 3].map(() => spawnChild({ command: ["/bin/sleep", "60"] }));
    await killAllChildren();
    for (const child of children) expect((await child.exited).signal).toBe("SIGTERM");
  });

  test("when this process is killed, its children end as well", async () => {
    const script = `import { spawnChild } from ${JSON.stringify(new URL("../../../src/lib/process.ts", import.meta.url).pathname)};
      console.log(spawnChild({ command: ["/bin/sleep", "60"] }).pid); setInterval(() => {}, 1000);`;
    const parent = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
    const pid = Number(new TextDecoder().decode((await parent.stdout.getReader().read()).value));
    expect(await isRunning(pid)).toBe(true);
    parent.kill("SIGKILL");
    await parent.exited;
    await until("the end of the child", async () => !(await isRunning(pid)));
  });
});

describe("limits", () => {
  test("wall time", async () => {
    const child = spawnChild({ command: ["/bin/sleep", "60"], limits: { wallSeconds: 0.05 } });
    await child.exited;
    expect(child.endedBy()).toBe("wall");
  });

  test("CPU time", async () => {
    const child = spawnChild({ command: shell("while :; do :; done"), limits: { cpuSeconds: 1, wallSeconds: 20 } });
    expect((await child.exited).signal).toBe("SIGXCPU");
    expect(child.endedBy()).toBeNull();
  });

  test("memory", async () => {
    const copy = (size: string) => ["/bin/dd", "if=/dev/zero", "of=/dev/null", "count=1", `bs=${size}`];
    const limits = { memoryBytes: 100 << 20 };
    expect((await spawnChild({ command: copy("400M"), limits }).exited).code).not.toBe(0);
    expect((await spawnChild({ command: copy("1M"), limits }).exited).code).toBe(0);
  });

  test("file size", async () => {
    const path = `${process.env.TMPDIR ?? "/tmp"}/offcut-file-size-${process.pid}`;
    const command = ["/bin/dd", "if=/dev/zero", `of=${path}`, "bs=1024", "count=2048"];
    const exit = await spawnChild({ command, limits: { fileSizeBytes: 1 << 20 } }).exited;
    expect(exit.code).not.toBe(0);
    expect(Bun.file(path).size).toBe(1 << 20);
    await Bun.file(path).delete();
  });
});

/** Returns whether a process is running. A zombie is not. */
async function isRunning(pid: number): Promise<boolean> {
  const text = await Bun.file(`/proc/${pid}/stat`)
    .text()
    .catch(() => "");
  return text !== "" && !/^\d+ \(.*\) Z/.test(text);
}
