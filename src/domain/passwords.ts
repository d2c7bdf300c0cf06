/** The rule for new passwords: their length, and common passwords that are rejected. */
import { MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS } from "./field-limits";

/** Bounds the normalization that precedes counting the characters. */
export const MAX_PASSWORD_UTF16_UNITS = 1024;

/** Normalizes a password for hashing, because keyboards may encode the same character in different ways. */
export const normalizePassword = (password: string): string => password.normalize("NFKC");

/**
 * Returns why a password cannot be chosen, as the end of a sentence that begins with "Password", or null. `email` is
 * the account's address, which the password must not repeat.
 */
export function findPasswordProblem(password: string, email: string): string | null {
  const bounds = `must have ${MIN_PASSWORD_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS} characters`;
  if (password.length > MAX_PASSWORD_UTF16_UNITS) return bounds;
  const normalized = normalizePassword(password);
  const length = [...normalized].length;
  if (length < MIN_PASSWORD_CHARACTERS || length > MAX_PASSWORD_CHARACTERS) return bounds;
  const lower = normalized.toLowerCase();
  const address = email.toLowerCase();
  if (lower === address || lower === address.split("@")[0]) return "must not be the email address";
  return isCommon(lower) ? "is too common: choose one that is harder to guess" : null;
}

/** The words in the most frequent leaked passwords, and words that relate to this product. Lower case, letters only. */
const COMMON_WORDS = new Set(
  `abc access account adidas admin administrator alexander amanda andrea andrew angel angels anthony apple arsenal asdf asdfgh asdfghjkl
  ashley austin azerty babygirl bailey barcelona baseball basketball batman beautiful bigdog blink blue bond brandon buster butterfly camaro
  carlos changeit changeme charlie cheese chelsea chicken chocolate computer cookie corvette cowboy daniel default demo diamond dolphin
  donald dragon eagles elephant everton ferrari flower football forever freedom friend friends fuckyou gandalf george ginger google guest
  hallo hannah harley hello hockey hottie house hunter iloveu iloveyou internet jackson james jasmine jennifer jessica jesus jordan
  joshua justin killer lakers letmein lifehack liverpool login london looking lovely lover loveme lovers manager maggie marina martin master matrix
  matthew melissa mercedes michael michelle mickey monkey monster morgan mother mustang mynoob naruto nicole nothing offcut orange pass
  passwd passwort password patrick pepper phoenix player please pokemon princess private purple qazwsx qwer qwert qwerty qwertyuiop qwertz
  rainbow ranger robert root samantha samsung sample samuel scooter secret secure security server service shadow silver sinclair slipknot snoopy
  soccer software sophie spiderman starwars startrek steelers studio summer sunflower sunshine superman superstar support system
  taylor temp temporary tennis test tester testing thebest thomas thunder tigger tinkerbell trustno unknown user username video
  vincent welcome whatever william winner winter yankees yellow you love me my the is one our new`.split(/\s+/),
);

/** Keyboard rows, the alphabet, digits, and keyboard columns from left to right. Any stretch of them is common. */
const SEQUENCES = [
  "qwertyuiopasdfghjklzxcvbnm",
  "qwertzuiopasdfghjklyxcvbnm",
  "azertyuiopqsdfghjklmwxcvbn",
  "abcdefghijklmnopqrstuvwxyz",
  "1234567890",
  "01234567891011121314",
  "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
  "qazwsxedcrfvtgbyhnujmikolp",
  "1q2w3e4r5t6y7u8i9o0p",
  "q1w2e3r4t5y6u7i8o9p0",
  "1a2b3c4d5e6f7g8h9i0j",
  "a1b2c3d4e5f6g7h8i9j0",
];

const MIN_RUN_CHARACTERS = 3;
/** Maximum number of digits and symbols around common words, such as a year and an exclamation mark. */
const MAX_AFFIX_CHARACTERS = 6;
/** Four or more words form a passphrase, even if each is common. */
const MAX_COMMON_WORDS = 3;

const isCommon = (password: string): boolean =>
  isRepetition(password) || isMadeOfRuns(password) || isMadeOfCommonWords(password);

/** Returns whether the password is a repetition of a short text, such as `abababababa` or `secretsecret`. */
function isRepetition(password: string): boolean {
  for (let period = 1; period < MIN_PASSWORD_CHARACTERS && 2 * period <= password.length; period++) {
    const unit = password.slice(0, period);
    if (unit.repeat(Math.ceil(password.length / period)).startsWith(password)) return true;
  }
  return false;
}

/** Returns whether the password consists of runs of the sequences in any direction: `qwerty12345`, `abcdef654321`. */
function isMadeOfRuns(password: string): boolean {
  let rest = password;
  while (rest !== "") {
    const run = findLongestRun(rest);
    if (run < MIN_RUN_CHARACTERS) return false;
    rest = rest.slice(run);
  }
  return true;
}

const RUNS = SEQUENCES.flatMap((sequence) => [sequence, [...sequence].reverse().join("")]);

function findLongestRun(text: string): number {
  let longest = 0;
  for (const sequence of RUNS) {
    while (longest < text.length && sequence.includes(text.slice(0, longest + 1))) longest++;
  }
  return longest;
}

/** Letters that are often replaced with digits and symbols that look alike. */
const LOOKALIKES: Record<string, string> = {
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
  "!": "i",
};

/** Returns whether the password is up to three common words with affixes: `Passw0rd2024!`, `iloveyou_forever`. */
function isMadeOfCommonWords(password: string): boolean {
  const [before = ""] = /^[^a-z]+/.exec(password) ?? [];
  const [after = ""] = /(?<![^a-z])[^a-z]+$/.exec(password) ?? [];
  const middle = password.slice(before.length, password.length - after.length);
  const isAffix = (text: string) => text.length <= MAX_AFFIX_CHARACTERS || isMadeOfRuns(text);
  // A symbol at either end may stand for a letter: `p@$$`.
  return (isAffix(before) && isAffix(after) && isFewCommonWords(middle)) || isFewCommonWords(password);
}

/** `text` may have digits and symbols between the words and in place of letters. */
function isFewCommonWords(text: string): boolean {
  const letters = [...text].map((character) => LOOKALIKES[character] ?? character).join("");
  const onlyLetters = letters.replace(/[^a-z]/g, "");
  return letters.length - onlyLetters.length <= MAX_AFFIX_CHARACTERS && countWords(onlyLetters) <= MAX_COMMON_WORDS;
}

/** Returns the smallest number of common words that form the text; infinite if it contains others. */
function countWords(text: string): number {
  const least = [0];
  for (let end = 1; end <= text.length; end++) {
    least[end] = Number.POSITIVE_INFINITY;
    for (let start = 0; start < end; start++) {
      if (COMMON_WORDS.has(text.slice(start, end))) least[end] = Math.min(least[end]!, least[start]! + 1);
    }
  }
  return text === "" ? Number.POSITIVE_INFINITY : least[text.length]!;
}
