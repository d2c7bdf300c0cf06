import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { chmod, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { findSandbox } from "../../../src/lib/find-sandbox";
import { spawnChild } from "../../../src/lib/process";
import { type BwrapHost, buildBwrapArguments, type Sandbox, type SandboxView } from "../../../src/lib/sandbox";
import { temporaryFolder } from "../../temporary-folder";
import { until } from "../../until";

const HOST: BwrapHost = {
  program: "/usr/bin/bwrap",
  options: ["--unshare-all"],
  system: [{ bind: "/usr/lib" }, { link: "/lib", target: "usr/lib" }],
  shared: ["/opt/offcut"],
  devices: { nodes: ["/dev/dri"], information: ["/sys/dev/char"] },
};
const NOTHING: SandboxView = { readOnly: [], writable: [], devices: false };
const search = { wanted: true, programs: ["/usr/bin/env"], shared: [], probe: ["/usr/bin/env"] };
const found = await findSandbox({ ...search, path: process.env.PATH });
const hasBwrap = found.mode === "bwrap";
if (!hasBwrap) console.log(`skipped: tests of bwrap, because ${found.reason}`);

describe("the bwrap arguments", () => {
  test("have the options, the system, the programs, and end with the command", () => {
    expect(buildBwrapArguments(HOST, ["/opt/offcut", "--", "$(id)"], NOTHING)).toEqual([
      ...["/usr/bin/bwrap", "--unshare-all", "--ro-bind", "/usr/lib", "/usr/lib", "--symlink", "usr/lib", "/lib"],
      ...["--proc", "/proc", "--dev", "/dev", "--ro-bind-try", "/opt/offcut", "/opt/offcut"],
      ...["--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/", "--", "/opt/offcut", "--", "$(id)"],
    ]);
  });

  test("bind outer folders before inner ones, in any order", () => {
    const view = { readOnly: ["/data/a/source", "/data"], writable: ["/data/a", "/data/b"], devices: false };
    const text = buildBwrapArguments({ ...HOST, shared: [] }, ["x"], view).join(" ");
    expect(text).toContain(
      "--ro-bind /data /data --bind /data/a /data/a --ro-bind /data/a/source /data/a/source --bind /data/b /data/b",
    );
  });

  test("a path that is listed twice is bound once, and writable if one entry is", () => {
    const view = { readOnly: ["/data", "/data"], writable: ["/data"], devices: false };
    const text = buildBwrapArguments(HOST, ["x"], view).join(" ");
    expect(text.match(/\/data \/data/g)).toHaveLength(1);
    expect(text).toContain("--bind /data /data");
  });

  test("include devices and driver files only on request", () => {
    expect(buildBwrapArguments(HOST, ["x"], NOTHING).join(" ")).not.toMatch(/dri|sys/);
    const text = buildBwrapArguments(HOST, ["x"], { ...NOTHING, devices: true }).join(" ");
    expect(text).toContain("--dev-bind-try /dev/dri /dev/dri --ro-bind-try /sys/dev/char /sys/dev/char");
  });
});

describe("finding a sandbox", () => {
  /** A folder for the PATH with programs that have the given output. */
  const choose = async (programs: Record<string, string>, wanted = true) => {
    await using folder = await temporaryFolder();
    for (const [name, script] of Object.entries(programs)) {
      await Bun.write(join(folder.path, name), `#!/bin/sh\n${script}\n`);
      await chmod(join(folder.path, name), 0o755);
    }
    return await findSandbox({ ...search, wanted, path: folder.path });
  };
  const fails = "echo 'first line' >&2; echo 'setting up uid map: Permission denied' >&2; exit 1";

  test("returns none when it is disabled", async () => {
    const sandbox = await choose({}, false);
    expect(sandbox).toMatchObject({ mode: "none", reason: "disabled by the setting sandbox" });
    expect(sandbox.wrap(["/bin/x", "y"], NOTHING)).toEqual(["/bin/x", "y"]);
  });

  test("falls back to unshare, as root or with a user namespace, with the reason", async () => {
    const asRoot = await choose({ bwrap: fails, unshare: "exit 0" });
    expect(asRoot.mode).toBe("unshare");
    expect(asRoot.reason).toStartWith("bwrap does not work here (setting up uid map: Permission denied)");
    expect(asRoot.wrap(["/bin/x", "y"], NOTHING).slice(1)).toEqual(["-n", "--", "/bin/x", "y"]);
    const asUser = await choose({ bwrap: fails, unshare: '[ "$1" = -rn ]' });
    expect(asUser.wrap(["/bin/x"], NOTHING).slice(1)).toEqual(["-rn", "--", "/bin/x"]);
  });

  test("returns none with both reasons when neither works", async () => {
    const sandbox = await choose({ bwrap: fails, unshare: "exit 1" });
    expect(sandbox.mode).toBe("none");
    expect(sandbox.reason).toMatch(/^bwrap does not work here \(.*\).*; unshare cannot remove the network either$/);
  });

  test("uses the strictest options that bwrap supports", async () => {
    const old = await choose({ bwrap: `case "$*" in *--disable-userns*|*--size*) exit 1;; esac` });
    expect(old.mode).toBe("bwrap");
    expect(old.wrap(["x"], NOTHING).join(" ")).toContain("--dir /tmp");
    const recent = await choose({ bwrap: "exit 0" });
    expect(recent.wrap(["x"], NOTHING).join(" ")).toContain("--disable-userns");
  });
});

describe.skipIf(!hasBwrap)("a child in bwrap", () => {
  const start = (script: string, view: Partial<SandboxView> = {}, limits = {}) =>
    spawnChild({
      command: ["/bin/sh", "-c", script],
      stdin: "pipe",
      stdout: "pipe",
      sandbox: { sandbox: found as Sandbox, view: { ...NOTHING, ...view } },
      limits,
    });
  const outputOf = async (script: string, view: Partial<SandboxView> = {}) => {
    const child = start(script, view);
    return (await new Response(child.stdout).text()).trim();
  };

  test("passes on its exit code and its signal", async () => {
    expect(await start("exit 3").exited).toEqual({ code: 3, signal: null });
    expect(await start("kill -9 $$").exited).toEqual({ code: null, signal: "SIGKILL" });
    expect(await start("kill -SEGV $$").exited).toEqual({ code: null, signal: "SIGSEGV" });
  });

  test("can read and change only its view", async () => {
    await using folder = await temporaryFolder();
    const at = (name: string) => join(folder.path, name);
    for (const name of ["mine", "other"]) await mkdir(at(name));
    await Bun.write(at("mine/source"), "source");
    await Bun.write(at("other/secret"), "secret");
    const script = `cd ${folder.path} || exit; echo *; echo mine/*
      for path in mine/new mine/source /new /tmp/new /dev/new /usr/lib/new; do
        (echo changed >$path) 2>/dev/null && echo "wrote $path"; done
      for path in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/self/oom_score_adj; do
        (: >>$path) 2>/dev/null && echo "opened $path"; done
      for path in /etc/passwd /etc/shadow /home /root /var ${at("other/secret")}; do [ -e $path ] && echo "sees $path"; done`;
    const output = await outputOf(script, { writable: [at("mine")], readOnly: [at("mine/source")] });
    expect(output.split("\n")).toEqual(["mine", "mine/source", "wrote mine/new", "wrote /tmp/new"]);
    expect(await Bun.file(at("mine/source")).text()).toBe("source");
    expect((await readdir(folder.path)).sort()).toEqual(["mine", "other"]);
    expect((await readdir(at("mine"))).sort()).toEqual(["new", "source"]);
  });

  test("has only its own loopback network, no capabilities, and sees no other process", async () => {
    const script = `while read -r line; do echo "$line"; done </proc/net/dev
      while read -r name value; do case $name in Cap*|NoNewPrivs:) echo "$name $value";; esac; done </proc/self/status; echo /proc/[0-9]*`;
    const output = await outputOf(script);
    expect(
      [...output.matchAll(/^(\w+):/gm)].map((match) => match[1]).filter((name) => !/^(Cap|NoNew)/.test(name!)),
    ).toEqual(["lo"]);
    expect(output).toMatch(/CapEff: 0+\n/);
    expect(output).toMatch(/CapBnd: 0+\n/);
    expect(output).toContain("NoNewPrivs: 1");
    expect(output).toEndWith("/proc/1 /proc/2");
  });

  test("a program with its own libraries finds them", async () => {
    await using folder = await temporaryFolder();
    const at = (name: string) => join(folder.path, name);
    for (const [name, source, ...options] of [
      ["libown.so", "int own(void) { return 7; }", "-shared", "-fPIC"],
      [
        "program",
        "int own(void); int main(void) { return own() - 7; }",
        `-L${folder.path}`,
        `-Wl,-rpath,${folder.path}`,
        "-lown",
      ],
    ] as const) {
      await Bun.write(at(`${name}.c`), source);
      const compiler = Bun.which("cc");
      if (compiler === null) return console.log("skipped: no C compiler");
      expect(await Bun.spawn([compiler, "-o", at(name), at(`${name}.c`), ...options]).exited).toBe(0);
    }
    const probe = [at("program")];
    const sandbox = await findSandbox({ wanted: true, programs: probe, shared: [], probe, path: process.env.PATH });
    expect(sandbox).toMatchObject({ mode: "bwrap", reason: null });
    expect(sandbox.hasDevices).toBe(readdirSync("/dev").some((name) => /^(dri|nvidia|video\d)/.test(name)));
  });

  test("has limits, and its descendants end with it", async () => {
    const limited = start("while :; do :; done", {}, { cpuSeconds: 1, wallSeconds: 20 });
    expect((await limited.exited).signal).toMatch(/SIGKILL|SIGXCPU/);
    expect(limited.endedBy()).toBeNull();
    const stubborn = start("trap '' TERM; (trap '' TERM; while :; do :; done) & echo ready; wait");
    await stubborn.stdout.getReader().read();
    await stubborn.kill();
    expect(await treeOf(stubborn.pid)).toEqual([]);
  });

  test("ends when this process is killed", async () => {
    const source = (name: string) => JSON.stringify(new URL(`../../../src/lib/${name}.ts`, import.meta.url).pathname);
    const script = `import { spawnChild } from ${source("process")}; import { findSandbox } from ${source("find-sandbox")};
      const sandbox = await findSandbox(${JSON.stringify({ ...search, path: process.env.PATH })});
      const child = spawnChild({ command: ["/bin/sh", "-c", "echo; while :; do read line; done"], stdin: "pipe", stdout: "pipe",
        sandbox: { sandbox, view: { readOnly: [], writable: [], devices: false } } });
      await child.stdout.getReader().read(); console.log(child.pid); setInterval(() => {}, 1000);`;
    const parent = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
    const pid = Number(new TextDecoder().decode((await parent.stdout.getReader().read()).value));
    const tree = await treeOf(pid);
    expect(tree.length).toBeGreaterThan(1);
    parent.kill("SIGKILL");
    await parent.exited;
    await until("the end of all processes", async () => (await running(tree)).length === 0);
  });
});

/** Returns a process and all its descendants. */
async function treeOf(pid: number): Promise<number[]> {
  const children = await Bun.file(`/proc/${pid}/task/${pid}/children`)
    .text()
    .catch(() => "");
  const below = await Promise.all(
    children
      .split(" ")
      .filter(Boolean)
      .map((child) => treeOf(Number(child))),
  );
  return running([pid, ...below.flat()]);
}

/** Returns the running processes, without zombies. */
async function running(pids: number[]): Promise<number[]> {
  const states = await Promise.all(
    pids.map((pid) =>
      Bun.file(`/proc/${pid}/stat`)
        .text()
        .catch(() => ""),
    ),
  );
  return pids.filter((_, n) => states[n] !== "" && !/^\d+ \(.*\) Z/.test(states[n]!));
}
