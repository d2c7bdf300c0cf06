/** Examples in three languages that verify the signature of a delivery. The test suite runs each one. */
import javascript from "./examples/receiver.mjs" with { type: "text" };
import python from "./examples/receiver.py" with { type: "text" };
import shell from "./examples/verify.sh" with { type: "text" };

export const EXAMPLES = [
  { language: "JavaScript", code: javascript },
  { language: "Python", code: python },
  { language: "Shell", code: shell },
] as const;
