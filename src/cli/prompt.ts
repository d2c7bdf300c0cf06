/** Prompts for secrets on the terminal. */
import { UsageError } from "./options";

/** Prompts on the terminal without echoing the input. */
export function promptHidden(question: string): Promise<string> {
  const { stdin, stdout } = process;
  // Set before the question is printed, so that characters typed immediately are not shown either.
  stdin.setRawMode(true);
  stdout.write(question);
  stdin.resume();
  return new Promise((resolve, reject) => {
    let typed = "";
    const end = (settle: () => void) => {
      stdin.off("data", onData);
      stdin.setRawMode(false);
      stdin.pause();
      stdout.write("\n");
      settle();
    };
    const onData = (data: Buffer) => {
      for (const character of data.toString()) {
        if (character === "\r" || character === "\n") return end(() => resolve(typed));
        if (character === "\u0003") return end(() => reject(new UsageError("Interrupted.")));
        typed = character === "\u007f" ? typed.slice(0, -1) : typed + character;
      }
    };
    stdin.on("data", onData);
  });
}
