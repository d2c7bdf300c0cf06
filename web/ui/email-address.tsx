import { showAddress } from "../app/show-address";

/** An email address, marked if it mixes scripts: it may look like another one. */
export function EmailAddress({ address }: { address: string }) {
  const { text, isMixed } = showAddress(address);
  return (
    <>
      {text}
      {isMixed && <span class="status waiting">Mixed scripts</span>}
    </>
  );
}
