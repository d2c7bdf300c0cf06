import { expect, test } from "bun:test";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { insertUser } from "../../../../src/store/users";
import { openSetup } from "../../../../src/work/identity/setup";
import { freshStore } from "../../store/test-store";

test("the link stays the same until there is an administrator, in a file for the owner alone", async () => {
  await using db = await freshStore();
  const { store, folder } = db;
  let publicUrl = "http://127.0.0.1:4700";
  const open = () => openSetup({ folder, store, publicUrl: () => publicUrl });
  const url = (await open().url())!;
  const [, token = ""] = url.split("#");
  expect(url).toBe(`http://127.0.0.1:4700/setup#${token}`);
  expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
  const path = join(folder, "setup-url");
  expect(((await stat(path)).mode & 0o777).toString(8)).toBe("600");
  expect(await Bun.file(path).text()).toBe(`${url}\n`);

  publicUrl = "https://cut.example";
  expect(await open().url()).toBe(`https://cut.example/setup#${token}`);
  expect(await open().matches(token)).toBe(true);
  for (const wrong of ["", token.slice(1), `${token}x`, token.toLowerCase()])
    expect(await open().matches(wrong)).toBe(false);

  await store.write((tx) => insertUser(tx, { id: "m", email: "m@example.test", created_at: 1 }));
  expect(await open().url()).not.toBeNull();
  await store.write((tx) => insertUser(tx, { id: "a", email: "a@example.test", is_admin: true, created_at: 1 }));
  expect(await open().url()).toBeNull();
  expect(await Bun.file(path).exists()).toBe(false);
  expect(await open().matches(token)).toBe(false);
  expect(await open().matches("")).toBe(false);
});

test("a damaged file is replaced", async () => {
  await using db = await freshStore();
  const setup = openSetup({ folder: db.folder, store: db.store, publicUrl: () => "http://a" });
  await Bun.write(join(db.folder, "setup-url"), "");
  expect(await setup.matches("")).toBe(false);
  expect(await setup.url()).toMatch(/#[0-9A-Za-z]{43}$/);
});
