import { expect, test } from "bun:test";
import { showAddress } from "../../../web/ui/email-address";

test.each([
  ["ada@studio.example", "ada@studio.example", false],
  ["jürgen@müller.example", "jürgen@xn--mller-kva.example", false],
  ["аda@studio.example", "аda@studio.example", true],
  ["ada@ѕtudio.example", "ada@xn--tudio-g2e.example", true],
  ["ада@студия.рф", "ада@xn--d1aizef8e.xn--p1ai", false],
  ["田中さん@例え.テスト", "田中さん@xn--r8jz45g.xn--zckzah", false],
  ["x@[bad", "x@[bad", false],
  // Older versions had accounts with such addresses.
  ["ada@studio\u3002example", "ada@studio\u3002example", false],
  ["ada@studio%2eexample", "ada@studio%2eexample", false],
  ["ada@studio.example/x", "ada@studio.example/x", false],
  // Lisu, which has letters that look like Latin ones.
  ["\ua4d0ob@studio.example", "\ua4d0ob@studio.example", true],
  ["o'brien+1@studio.example", "o'brien+1@studio.example", false],
])("%p is shown as %p, mixed: %p", (address, text, isMixed) => {
  expect(showAddress(address)).toEqual({ text, isMixed });
});
