import { expect, test } from "bun:test";
import { join } from "node:path";
import { createNativeAddonsPlugin } from "../../../src/build/native-addons";
import { temporaryFolder } from "../../temporary-folder";

const PROJECT = join(import.meta.dir, "../../..");

async function bundle(folder: string, entry: string): Promise<string> {
  const path = join(folder, "entry.ts");
  await Bun.write(path, entry);
  const built = await Bun.build({
    entrypoints: [path],
    target: "bun",
    root: PROJECT,
    plugins: [createNativeAddonsPlugin(join(PROJECT, "src/lib/native.ts"))],
  });
  return built.outputs[0]!.text();
}

test("a package that is not in the bundle fails the build", async () => {
  await using folder = await temporaryFolder();
  await expect(bundle(folder.path, "console.log(1)")).rejects.toThrow();
});

test("packages load their addons by name, and not on import", async () => {
  await using folder = await temporaryFolder();
  const packages = ["libsql", "libsql/promise", "onnxruntime-node"].map((name) => Bun.resolveSync(name, PROJECT));
  const entry = packages.map((path, i) => `import * as p${i} from ${JSON.stringify(path)}; console.log(typeof p${i});`);
  const later = `export const later = () => import(${JSON.stringify(Bun.resolveSync("sherpa-onnx-node", PROJECT))});`;
  const source = await bundle(folder.path, [...entry, later].join("\n"));
  expect(source).toContain('loadNative("libsql.node")');
  expect(source).toContain('loadNative("onnxruntime_binding.node")');
  expect(source).toContain('loadNative("sherpa/sherpa-onnx.node")');
  expect(source).not.toContain("onnxruntime_binding.node`");
  // No native folder is set, so loading an addon on import would throw.
  const path = join(folder.path, "bundle.js");
  await Bun.write(path, source);
  const run = Bun.spawnSync([process.execPath, path], { stderr: "pipe" });
  expect(run.stderr.toString()).toBe("");
  expect(run.stdout.toString()).toBe("object\nobject\nobject\n");
});
