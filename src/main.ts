/** `offcut`: runs the command that the arguments name. Commands are loaded on demand: `key create` needs no ffmpeg. */
import { version } from "../package.json";
import { print, printError } from "./cli/print";
import { KEEP_PRIORITY, keepChildPriority } from "./lib/process";

const HELP = `Offcut ${version}: cut and render recordings on your own server.

Usage: offcut [COMMAND] [OPTIONS]

  serve        Run the server (default)
  cut FILE…    Cut recordings without a server
  render FILE  Render a recording by an edited plan without a server
  setup-url    Print the link that creates the first administrator
  user         Create, list, disable and enable accounts, grant and refund credits
  key          Create, list and revoke API keys
  worker       Do work of a server on another machine, and manage join tokens of workers
  models       Install and remove speech models for other languages
  backup       Back up the data folder, and verify a backup
  restore      Put a backup in the place of the data folder
  upgrade      Check and install a new version
  doctor       Check this machine and the configuration
  support      Write an archive for a bug report, without names and media
  licenses     Print the licenses of the bundled software
  version      Print the version

Run offcut COMMAND --help for details.
`;

/** Hidden commands start with underscores. */
const COMMANDS: Record<string, (args: string[]) => Promise<number>> = {
  serve: async (args) => (await import("./cli/serve")).serveCommand(args),
  cut: async (args) => (await import("./cli/cut")).cutCommand(args),
  render: async (args) => (await import("./cli/render")).renderCommand(args),
  "setup-url": async (args) => (await import("./cli/setup-url")).setupUrlCommand(args),
  user: async (args) => (await import("./cli/user")).userCommand(args),
  key: async (args) => (await import("./cli/key")).keyCommand(args),
  worker: async (args) => (await import("./cli/worker")).workerCommand(args),
  models: async (args) => (await import("./cli/models")).modelsCommand(args),
  backup: async (args) => (await import("./cli/backup")).backupCommand(args),
  restore: async (args) => (await import("./cli/restore")).restoreCommand(args),
  upgrade: async (args) => (await import("./cli/upgrade")).upgradeCommand(args),
  doctor: async (args) => (await import("./cli/doctor")).doctorCommand(args),
  support: async (args) => (await import("./cli/support")).supportCommand(args),
  licenses: async (args) => (await import("./cli/licenses")).licensesCommand(args),
  "__put-back": async (args) => (await import("./cli/upgrade")).putBackCommand(args),
  __speech: async (args) => (await import("./cli/speech")).speechProcessCommand(args),
  __drill: async (args) => (await import("./cli/drill")).drillCommandMain(args),
  __job: async (args) => {
    if (args.includes(KEEP_PRIORITY)) keepChildPriority();
    await (await import("./work/job-child/worker")).runJobWorker();
    return 0;
  },
};

async function main(argv: string[]): Promise<number> {
  const [command = "serve", ...args] = argv;
  if (Object.hasOwn(COMMANDS, command)) return COMMANDS[command]!(args);
  switch (command) {
    case "version":
    case "--version":
      if (args.includes("--help"))
        print("Usage: offcut version [--json]\n\nPrints the version. --json prints it as a JSON object.\n");
      else print(args.includes("--json") ? `${JSON.stringify({ version })}\n` : `offcut ${version}\n`);
      return 0;
    case "help":
      if (args[0] !== undefined) return main([args[0], "--help"]);
      print(HELP);
      return 0;
    case "--help":
    case "-h":
      print(HELP);
      return 0;
    default:
      // `offcut --port 80` starts the server.
      if (command.startsWith("--")) return main(["serve", ...argv]);
      printError(`offcut: Unknown command "${command}". See offcut --help.`);
      return 2;
  }
}

process.exit(await main(process.argv.slice(2)));
