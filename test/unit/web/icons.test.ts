/** Icons of the editor are loaded with the page of a recording, so other components cannot show them. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { EDITOR_ICONS } from "../../../web/editor/icons";

const WEB = join(import.meta.dir, "../../../web");
/** Loaded with the page of a recording, or listing the shapes that are filled. */
const IS_LOADED = /^(editor|pages\/asset)\/|^ui\/icon\.tsx$/;

test("only the page of a recording shows icons of the editor", async () => {
  const pattern = new RegExp(`icon.*"(${Object.keys(EDITOR_ICONS).join("|")})"`, "i");
  const found: string[] = [];
  for (const file of new Glob("**/*.{ts,tsx}").scanSync(WEB)) {
    const lines = (await Bun.file(join(WEB, file)).text()).split("\n");
    if (!IS_LOADED.test(file))
      found.push(...lines.filter((line) => pattern.test(line)).map((line) => `${file}: ${line}`));
  }
  expect(found).toEqual([]);
});
