/** The output of commands. Names, messages and reports of others cannot control the terminal. */
import { escapeControls } from "../lib/control-characters";

/** Prints a text with its line breaks. A name in it that others chose must be escaped, or it could add a line. */
export const print = (text: string): void => void process.stdout.write(escapeLines(text));

/** Prints one line to standard error. Line breaks in it, as in a message of a recording, are escaped too. */
export const printError = (line: string): void => void process.stderr.write(`${escapeControls(line)}\n`);

const escapeLines = (text: string): string => text.split("\n").map(escapeControls).join("\n");
