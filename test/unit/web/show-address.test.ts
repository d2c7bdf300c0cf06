import { expect, test } from "bun:test";
import { showAddress } from "../../../web/app/show-address";

test.each([
  ["ada@studio.example", "ada@studio.example", false],
  ["jürgen@müller.example", "jürgen@xn--mller-kva.example", false],
  ["аda@studio.example", "аda@studio.example", true],
  ["ada@ѕtudio.example", "ada@xn--tudio-g2e.example", true],
  ["ада@студия.рф", "ада@xn--d1aizef8e.xn--p1ai", false],
  ["田中さん@例え.テスト", "田中さん@xn--r8jz45g.xn--zckzah", false],
  ["x@[bad", "x@[bad", false],
])("%p is shown as %p, mixed: %p", (address, text, isMixed) => {
  expect(showAddress(address)).toEqual({ text, isMixed });
});
