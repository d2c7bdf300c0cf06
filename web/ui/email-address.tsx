import { hasHostName } from "../../src/domain/email-address";

/** An email address, with a warning if it mixes scripts and so may imitate another address. */
export function EmailAddress({ address }: { address: string }) {
  const { text, isMixed } = showAddress(address);
  return (
    <>
      {text}
      {isMixed && <span class="status waiting">Mixed scripts</span>}
    </>
  );
}

/** Letters of each script. The scripts of one language count as one. */
const LISTED = [
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

/** A letter of a script that is not listed above. */
const OTHER = new RegExp(
  `(?![\\p{Script=Common}\\p{Script=Inherited}])(?!${LISTED.map(({ source }) => source).join("|")})\\p{L}`,
  "u",
);

const SCRIPTS = [...LISTED, OTHER];

/**
 * Returns the address with its domain in ASCII, and whether its local part mixes scripts or uses another script than
 * the domain. A domain that is not a valid host name stays as it is: its ASCII form would be another address.
 */
export function showAddress(address: string): { text: string; isMixed: boolean } {
  const at = address.lastIndexOf("@");
  const [name, domain] = [address.slice(0, at), address.slice(at + 1)];
  const ascii = (hasHostName(address) && URL.parse(`http://${domain}`)?.hostname) || domain;
  const isMixed = SCRIPTS.filter((pattern) => pattern.test(`${name}${domain}`)).length > 1;
  return { text: `${name}@${ascii}`, isMixed };
}
