/** `offcut licenses`: prints the licenses of the bundled software. */
import { runPlainCommand } from "./options";
import { openPrivateAssets } from "./private-assets";

const HELP = `Usage: offcut licenses

Prints the license of Offcut and the licenses of the software bundled in the executable.
`;

export function licensesCommand(argv: string[]): Promise<number> {
  return runPlainCommand({ name: "licenses", help: HELP }, argv, async (config) => {
    const text = Bun.file((await openPrivateAssets(config)).licenses);
    if (!(await text.exists())) throw new Error("Licenses are collected by the build. Build the executable first.");
    await Bun.write(Bun.stdout, await text.text());
    return 0;
  });
}
