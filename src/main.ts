/** `offcut`: runs the command that the arguments name. Commands are loaded on demand: `key create` needs no ffmpeg. */
import { version } from "../package.json";
import { print, printError } from "./cli/print";

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

async function main(argv: string[]): Promise<number> {
  const [command = "serve", ...args] = argv;
  switch (command) {
    case "serve":
      return (await import("./cli/serve")).serveCommand(args);
    case "cut":
      return (await import("./cli/cut")).cutCommand(args);
    case "render":
      return (await import("./cli/render")).renderCommand(args);
    case "setup-url":
      return (await import("./cli/setup-url")).setupUrlCommand(args);
    case "user":
      return (await import("./cli/user")).userCommand(args);
    case "key":
      return (await import("./cli/key")).keyCommand(args);
    case "worker":
      return (await import("./cli/worker")).workerCommand(args);
    case "models":
      return (await import("./cli/models")).modelsCommand(args);
    case "backup":
      return (await import("./cli/backup")).backupCommand(args);
    case "restore":
      return (await import("./cli/restore")).restoreCommand(args);
    case "upgrade":
      return (await import("./cli/upgrade")).upgradeCommand(args);
    case "doctor":
      return (await import("./cli/doctor")).doctorCommand(args);
    case "support":
      return (await import("./cli/support")).supportCommand(args);
    case "licenses":
      return (await import("./cli/licenses")).licensesCommand(args);
    case "version":
    case "--version":
      if (args.includes("--help")) {
        print("Usage: offcut version [--json]\n\nPrints the version. --json prints it as a JSON object.\n");
        return 0;
      }
      print(args.includes("--json") ? `${JSON.stringify({ version })}\n` : `offcut ${version}\n`);
      return 0;
    case "help":
      if (args[0] !== undefined) return main([args[0], "--help"]);
      print(HELP);
      return 0;
    case "--help":
    case "-h":
      print(HELP);
      return 0;
    case "__put-back":
      return (await import("./cli/upgrade")).putBackCommand(args);
    case "__speech":
      return (await import("./cli/speech")).speechProcessCommand(args);
    case "__drill":
      return (await import("./cli/drill")).drillCommandMain(args);
    case "__job":
      return (await import("./cli/job")).jobCommandMain();
    default:
      // `offcut --port 80` starts the server.
      if (command.startsWith("--")) return (await import("./cli/serve")).serveCommand(argv);
      printError(`offcut: Unknown command "${command}". See offcut --help.`);
      return 2;
  }
}

process.exit(await main(process.argv.slice(2)));
