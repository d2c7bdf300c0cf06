/** The output of commands. Names, messages and reports from others cannot control the terminal. */
import { escapeControls } from "../lib/control-characters";

/** Prints a text with its line breaks. Names chosen by others must be escaped, or they could add lines. */
export const print = (text: string): void => void process.stdout.write(escapeLines(text));

/** Prints one line to standard error. Line breaks in it, as in an error message of a recording, are also escaped. */
export const printError = (line: string): void => void process.stderr.write(`${escapeControls(line)}\n`);

const escapeLines = (text: string): string => text.split("\n").map(escapeControls).join("\n");
