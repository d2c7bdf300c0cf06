import { expect, test } from "bun:test";
import { join } from "node:path";
import { collectLicenses } from "../../../src/build/licenses";
import { temporaryFolder } from "../../temporary-folder";

test("each reachable package is listed once with its license texts, and packages that are not installed are skipped", async () => {
  await using project = await temporaryFolder();
  const write = (path: string, content: unknown) =>
    Bun.write(join(project.path, path), typeof content === "string" ? content : JSON.stringify(content));
  await write("package.json", { name: "root", version: "1.0.0", dependencies: { first: "1", second: "1" } });
  await write("LICENSE", "our own license");
  await write("node_modules/first/package.json", {
    name: "first",
    version: "1.2.3",
    license: "MIT",
    dependencies: { nested: "1", second: "1" },
    optionalDependencies: { "for-another-machine": "1" },
  });
  await write("node_modules/first/LICENSE.md", "first's text");
  await write("node_modules/first/NOTICE", "first's notice");
  await write("node_modules/first/node_modules/nested/package.json", {
    name: "nested",
    version: "2.0.0",
    license: { type: "ISC" },
    dependencies: { first: "1" },
  });
  await write("node_modules/second/package.json", { name: "second", version: "3.0.0", homepage: "https://second" });
  await write("node_modules/unused/package.json", { name: "unused", version: "4.0.0" });

  const text = await collectLicenses(project.path);
  for (const part of ["our own license", "first 1.2.3\nLicense: MIT", "first's text", "first's notice"])
    expect(text.split(part)).toHaveLength(2);
  expect(text).toContain("nested 2.0.0\nLicense: ISC");
  expect(text).toContain("second 3.0.0\nLicense: see its website\nhttps://second");
  expect(text).not.toContain("unused");
  expect(text).toContain("GNU GENERAL PUBLIC LICENSE");
});
