/** `offcut licenses`: prints the licenses of the bundled software. */
import { loadCommandConfig, parseCommand, requireNoArguments, runCommand } from "./options";
import { print } from "./print";
import { openPrivateAssets } from "./private-assets";

const HELP = `Usage: offcut licenses

Prints the license of Offcut and the licenses of the software bundled in the executable.
`;

/** Returns the exit code. */
export function licensesCommand(argv: string[]): Promise<number> {
  return runCommand("licenses", async () => {
    const parsed = parseCommand(argv, {});
    if (parsed.values.help) {
      print(HELP);
      return 0;
    }
    requireNoArguments(parsed);
    const assets = await openPrivateAssets(await loadCommandConfig(parsed));
    const text = Bun.file(assets.licenses);
    if (!(await text.exists())) throw new Error("Licenses are collected by the build. Build the executable first.");
    await Bun.write(Bun.stdout, await text.text());
    return 0;
  });
}
