import { useState } from "preact/hooks";
import { me } from "../../app/session";
import { AccountFrame } from "./account-frame";
import { DevicesSection } from "./devices-section";
import { PasswordSection } from "./password-section";
import { SessionsSection } from "./sessions-section";
import { TwoFactorSection } from "./two-factor-section";

/** Password, second factor, sessions and devices. */
export default function SecurityPage() {
  const [changes, setChanges] = useState(0);
  const profile = me.value;
  if (profile === null) return null;
  return (
    <AccountFrame title="Security">
      <PasswordSection profile={profile} onChanged={() => setChanges(changes + 1)} />
      <TwoFactorSection profile={profile} />
      <SessionsSection key={changes} />
      <DevicesSection />
    </AccountFrame>
  );
}
