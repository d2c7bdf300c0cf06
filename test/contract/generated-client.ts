/**
 * A typed client that `openapi-typescript` generates from a served document, compiled by the project's compiler and
 * imported.
 */
import { expect, mock } from "bun:test";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import typescript from "typescript-5";
import { temporaryFolder } from "../temporary-folder";

const ROOT = join(import.meta.dir, "../..");

const COMPILER_OPTIONS = {
  strict: true,
  noEmit: true,
  target: "ESNext",
  module: "Preserve",
  moduleResolution: "bundler",
  lib: ["ESNext", "DOM", "DOM.Iterable"],
  types: [],
  skipLibCheck: true,
};

/**
 * Generates the types of a document as `./api`, compiles the sources with them, and returns the exports of `client.ts`.
 * Fails with the messages of the compiler. The files exist until the disposal.
 */
export async function compileClient<T>(
  document: unknown,
  sources: { "client.ts": string; "mistakes.ts": string },
): Promise<AsyncDisposable & { client: T }> {
  // The generator uses TypeScript's syntax tree API, which version 7 does not have.
  mock.module("typescript", () => ({ default: typescript, ...typescript }));
  const { default: openapiTS, astToString } = await import("openapi-typescript");
  const folder = await temporaryFolder();
  await symlink(join(ROOT, "node_modules"), join(folder.path, "node_modules"));
  const types = astToString(await openapiTS(JSON.stringify(document)));
  for (const [name, text] of Object.entries({ "api.d.ts": types, ...sources })) {
    await Bun.write(join(folder.path, name), text);
  }
  const settings = { compilerOptions: COMPILER_OPTIONS, include: ["*.ts"] };
  await Bun.write(join(folder.path, "tsconfig.json"), JSON.stringify(settings));
  const compiler = Bun.spawn([join(ROOT, "node_modules/.bin/tsc"), "-p", folder.path], { stdout: "pipe" });
  const output = await new Response(compiler.stdout).text();
  expect([await compiler.exited, output]).toEqual([0, ""]);
  const client = (await import(join(folder.path, "client.ts"))) as T;
  return { client, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}
