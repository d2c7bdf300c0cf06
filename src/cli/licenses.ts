/** `offcut licenses`: the licences of what is inside the executable. */
import { loadCommandConfig, parseCommand, requireNoArguments, runCommand } from "./options";
import { openPrivateAssets } from "./private-assets";

const HELP = `offcut licenses

Prints Offcut's own licence note and the licences of the software that the executable holds.
`;

/** Gives the exit code. */
export function licensesCommand(argv: string[]): Promise<number> {
  return runCommand("licenses", async () => {
    const parsed = parseCommand(argv, {});
    if (parsed.values.help) {
      process.stdout.write(HELP);
      return 0;
    }
    requireNoArguments(parsed);
    const assets = await openPrivateAssets(await loadCommandConfig(parsed));
    const text = Bun.file(assets.licenses);
    if (!(await text.exists())) throw new Error("run from the sources: build the executable first");
    await Bun.write(Bun.stdout, await text.text());
    return 0;
  });
}
