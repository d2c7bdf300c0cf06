/** Single files from a bucket. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openFileSource } from "../../../../../src/work/backup/find-in-backups";
import { SOURCE_BYTES } from "../recorded-folder";
import { NEVER, offsiteFolder, PLACE, START } from "./offsite-folder";

test("a file comes from the newest backup that has it as wanted, and a damaged one is not written", async () => {
  await using offsite = await offsiteFolder();
  const { recorded, access, s3 } = offsite;
  const { folders, assetId, root } = recorded;
  const [source, poster] = [`media/${assetId}/source`, `media/${assetId}/poster.jpg`];
  await offsite.backup({ now: START });
  await Bun.write(folders.media(assetId).poster, "a newer poster");
  await offsite.backup({ now: START + 60_000 });
  const files = openFileSource(PLACE, access, NEVER)!;
  const list = (path: string, isWanted = (_: { bytes: number }) => true) => Array.fromAsync(files.find(path, isWanted));

  const posters = await list(poster);
  expect(posters.map(({ backup }) => backup)).toEqual(["offcut-2027-01-31T02-01-00Z", "offcut-2027-01-31T02-00-00Z"]);
  const [old] = await list(poster, ({ bytes }) => bytes === "poster".length);
  const to = join(root, "file");
  const { file } = old!;
  expect(await old!.copyTo(to, NEVER)).toEqual({
    bytes: file.bytes,
    sha256: file.sha256,
    modified_at: file.modified_at,
  });
  expect(await Bun.file(to).text()).toBe("poster");
  expect(await list("media/none/source")).toEqual([]);

  const [recording] = await list(source);
  expect(recording!.file.bytes).toBe(SOURCE_BYTES.length);
  for (const key of await s3.keys("office/blobs/")) await s3.client.write(key, "damaged");
  const damaged = join(root, "damaged");
  expect(await recording!.copyTo(damaged, NEVER).catch((error) => error.message)).toBe(
    `${source} has changed since the backup.`,
  );
  expect(await Bun.file(damaged).exists()).toBe(false);
});
