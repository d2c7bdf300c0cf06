/** `offcut`: from the arguments to a command. Commands are loaded when they are called: `key create` needs no ffmpeg. */
import { version } from "../package.json";

const HELP = `Offcut ${version}: cuts recordings and renders them, on your own server.

offcut serve        run the server (the default)
offcut cut FILE…    cut a recording without a server
offcut user         create, disable and list accounts, grant credits
offcut key          create, list and revoke API keys
offcut models       add and remove speech models for other languages
offcut doctor       check this machine and the configuration
offcut licenses     the licences of what is inside
offcut version      print the version

Every command has --help.
`;

async function main(argv: string[]): Promise<number> {
  const [command = "serve", ...args] = argv;
  switch (command) {
    case "serve":
      return (await import("./cli/serve")).serveCommand(args);
    case "cut":
      return (await import("./cli/cut")).cutCommand(args);
    case "user":
      return (await import("./cli/user")).userCommand(args);
    case "key":
      return (await import("./cli/key")).keyCommand(args);
    case "models":
      return (await import("./cli/models")).modelsCommand(args);
    case "doctor":
      return (await import("./cli/doctor")).doctorCommand(args);
    case "licenses":
      return (await import("./cli/licenses")).licensesCommand(args);
    case "version":
    case "--version":
      if (args.includes("--help")) {
        process.stdout.write("offcut version\n\nPrints the version. --json prints one object.\n");
        return 0;
      }
      process.stdout.write(args.includes("--json") ? `${JSON.stringify({ version })}\n` : `offcut ${version}\n`);
      return 0;
    case "help":
    case "--help":
    case "-h":
      process.stdout.write(HELP);
      return 0;
    case "__speech":
      return (await import("./cli/speech")).speechProcessCommand(args);
    case "__job":
      return (await import("./cli/job")).jobCommandMain();
    default:
      // `offcut --port 80` means the server.
      if (command.startsWith("--")) return (await import("./cli/serve")).serveCommand(argv);
      process.stderr.write(`offcut: there is no command "${command}"; see offcut --help\n`);
      return 2;
  }
}

process.exit(await main(process.argv.slice(2)));
