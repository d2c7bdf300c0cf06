import { Section } from "../../ui/section";

/** Devices, such as editor panels, that act for the user with their own API key. */
export const DevicesSection = () => (
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
