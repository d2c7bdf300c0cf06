/** A real browser: a recording without speech, which is cut by hand. */
import { expect, test } from "bun:test";
import { silentVideo } from "../http/media";
import { useDashboard } from "./dashboard";

const { open, server } = useDashboard();

test.each([false, true])("a recording without audio is cut by hand, after a failed cut: %p", async (hasFailed) => {
  const user = await server().user();
  const { id } = await user.ready(await silentVideo());
  if (hasFailed) expect((await user.cutEnded((await user.startCut({ asset_id: id })).id)).state).toBe("failed");
  const page = await open(`/assets/${id}`, user);
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  if (hasFailed) await page.getByRole("alert").getByText("Cut it by hand, or upload").waitFor();
  await page.getByText("This recording has no audio. Cut by hand with I, O and Delete.").waitFor();
  await page.keyboard.press("Delete");
  await page.getByRole("status").getByText("Nothing selected. Mark a range with I and O.").waitFor();
  for (const text of ["Make a cut.", "Make cut"]) expect(await page.getByText(text, { exact: true }).count()).toBe(0);
  await button("Cut by hand").waitFor();
  // Otherwise, the keys make the cut.
  if (hasFailed) {
    await button("Cut by hand").click();
    await button("Save").waitFor();
  }
  for (const key of ["i", "Shift+ArrowRight", "o"]) await page.keyboard.press(key);
  // A second press while the cut is made does not restore the range.
  await page.evaluate(
    (count) => {
      const press = () => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "Delete", bubbles: true }));
      for (let n = 0; n < count; n++) press();
    },
    hasFailed ? 1 : 2,
  );
  await page.getByRole("status").getByText("Marked range removed").waitFor();
  for (const name of ["Save", "Render"]) await button(name).waitFor();
  await page.keyboard.press("Control+z");
  await page.getByRole("status").getByText("Undone: Marked range removed").waitFor();
});
