import { expect, test } from "bun:test";
import { join } from "node:path";
import { moveOutput } from "../../../../src/work/cuts/one-shot";
import { recordDiskCalls } from "../../../disk-calls";
import { temporaryFolder } from "../../../temporary-folder";

const createFiles = async () => {
  const folder = await temporaryFolder();
  const [finished, output] = [join(folder.path, "work/finished"), join(folder.path, "out.mp4")];
  await Bun.write(finished, "new");
  return { folder, finished, output };
};

test.each([
  [false, "link"],
  [true, "rename"],
])("the file and its name are on disk before a cut ends (replaces: %p)", async (replace, call) => {
  const { folder, finished, output } = await createFiles();
  await using _ = folder;
  using disk = recordDiskCalls({ folder: folder.path });
  await moveOutput(finished, output, replace);
  expect(disk.calls).toEqual(["flush work/finished", `${call} out.mp4`, "flush ."]);
  expect(await Bun.file(output).text()).toBe("new");
});

test("a file that was created in the meantime is only replaced on request", async () => {
  const { folder, finished, output } = await createFiles();
  await using _ = folder;
  await Bun.write(output, "old");
  await expect(moveOutput(finished, output, false)).rejects.toThrow("already exists");
  expect(await Bun.file(output).text()).toBe("old");
  await moveOutput(finished, output, true);
  expect(await Bun.file(output).text()).toBe("new");
});
