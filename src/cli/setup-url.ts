/** `offcut setup-url`: prints the link that creates the first administrator. */
import { runAdminCommand } from "./admin";
import { runPlainCommand } from "./options";
import { print } from "./print";

const HELP = `Usage: offcut setup-url [--json]

Prints the link that creates the first administrator of a new server. It works once. Works with and without a running server.

  --json    Print a JSON object
`;

export function setupUrlCommand(argv: string[]): Promise<number> {
  return runPlainCommand({ name: "setup-url", help: HELP }, argv, async (config, parsed) => {
    const { url } = (await runAdminCommand(config, "setup url", {})) as { url: string | null };
    if (url === null)
      throw new Error("This server is already set up: sign in, or add an account with offcut user create.");
    print(parsed.values.json ? `${JSON.stringify({ url })}\n` : `${url}\n`);
    return 0;
  });
}
