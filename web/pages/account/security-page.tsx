import { useState } from "preact/hooks";
import { me } from "../../app/session";
import { Section } from "../../ui/section";
import { AccountFrame } from "./account-frame";
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

/** Devices, such as editor panels, that act for the user with their own API key. */
const DevicesSection = () => (
  <Section
    title="Devices"
    hint="A device, such as a panel in your video editor, shows a code that you approve. It then gets an API key with its name."
  >
    <div class="toolbar">
      <a class="button default" href="/oauth/device">
        Connect a device
      </a>
      <a class="button default" href="/keys">
        View API keys
      </a>
    </div>
    <p class="soft">To disconnect a device, revoke its API key.</p>
  </Section>
);
