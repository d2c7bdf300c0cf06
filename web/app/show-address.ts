/** Email addresses as they are shown, so that letters of another script do not pass for Latin ones. */

/** Letters of each script. Those of one language count as one. */
const SCRIPTS = [
  /\p{Script=Latin}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Hebrew}/u,
  /\p{Script=Arabic}/u,
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u,
];

/** Returns the address with its domain in ASCII, and whether its name mixes scripts with each other or with the domain. */
export function showAddress(address: string): { text: string; isMixed: boolean } {
  const at = address.lastIndexOf("@");
  const [name, domain] = [address.slice(0, at), address.slice(at + 1)];
  const ascii = URL.parse(`http://${domain}`)?.hostname || domain;
  const isMixed = SCRIPTS.filter((pattern) => pattern.test(`${name}${domain}`)).length > 1;
  return { text: `${name}@${ascii}`, isMixed };
}
