import { expect, test } from "bun:test";
import { findPasswordProblem } from "../../../src/domain/passwords";
import { measureProcessorMs } from "../../processor-time";

const EMAIL = "anna.meier@example.test";

test.each([
  "correct horse battery staple",
  "demo-4711-31337-290",
  "k4Rm-nd9o-wq",
  "Grüße aus Köln",
  "orange tiger monkey winter",
  "パスワードではない文字列です",
  "a".repeat(100) + "b".repeat(100),
  "anna.meier@example.test!x",
  "password-of-mine-only",
])("%p can be chosen", (password) => {
  expect(findPasswordProblem(password, EMAIL)).toBeNull();
});

test.each([
  ["nine characters", "k4Rm-nd9o"],
  ["nothing", ""],
  ["201 characters", "xy3".repeat(67)],
  ["9 characters that have more UTF-16 units", "😀😁😂😃😄😅😆😇😈"],
  ["a character that becomes 18 when it is normalized", "\ufdfa".repeat(12)],
  ["more than can be normalized", "x".repeat(100_000)],
])("%s is refused for its length", (_, password) => {
  expect(findPasswordProblem(password, EMAIL)).toBe("must have 10 to 200 characters");
});

test.each([
  ...["1234567890", "0987654321", "12345678910", "aaaaaaaaaa", "1111111111", "abcabcabcabc", "abababababa"],
  ...["qwertyuiop", "qwertzuiop", "asdfghjklasdfghjkl", "1q2w3e4r5t", "1qaz2wsx3edc", "zxcvbnmasdfghjkl"],
  ...["password12", "Password123!", "P@ssw0rd2024", "passw0rd!!", "Passwort123", "password1234567890", "iloveyou123"],
  ...[
    "ILoveYou_Forever",
    "letmein2024",
    "Welcome2024!",
    "administrator",
    "sunshine2024",
    "changeme123",
    "secretsecret",
  ],
  ...[
    "qwerty12345",
    "abcdef654321",
    "p@$$w0rd12",
    "offcutoffcut",
    "OffcutAdmin1",
    "qwerty123456",
    "football!!!",
    "trustno1trustno1",
  ],
  ...["ｐａｓｓｗｏｒｄ１２３"],
])("%p is refused as common", (password) => {
  expect(findPasswordProblem(password, EMAIL)).toBe("is too common: choose one that is harder to guess");
});

test.each([EMAIL, "ANNA.Meier@example.test", "anna.meier"])(
  "%p is refused as the address of the account",
  (password) => {
    expect(findPasswordProblem(password, EMAIL)).toBe("must not be the email address");
  },
);

test("the longest password is checked quickly", async () => {
  const cost = await measureProcessorMs(() => {
    for (const unit of ["password", "a", "love", "x9"]) findPasswordProblem(unit.repeat(200).slice(0, 199), EMAIL);
  });
  expect(cost).toBeLessThan(200);
});
