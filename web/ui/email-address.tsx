import { showAddress } from "../app/show-address";

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
