import { useState } from "preact/hooks";
import { me } from "../../app/session";
import { AccountFrame } from "./account-frame";
import { DevicesSection } from "./devices-section";
import { IdentitiesSection } from "./identities-section";
import { PasswordSection } from "./password-section";
import { SessionsSection } from "./sessions-section";
import { TwoFactorSection } from "./two-factor-section";

/** Password, second factor, sign-in providers, sessions and devices. */
export default function SecurityPage() {
  const [changes, setChanges] = useState(0);
  const profile = me.value;
  if (profile === null) return null;
  const onChanged = () => setChanges((count) => count + 1);
  return (
    <AccountFrame title="Security">
      <PasswordSection profile={profile} onChanged={onChanged} />
      <TwoFactorSection profile={profile} />
      <IdentitiesSection onRemoved={onChanged} />
      <SessionsSection key={changes} />
      <DevicesSection />
    </AccountFrame>
  );
}
