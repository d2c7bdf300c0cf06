import { listSettings } from "../../shell/settings-pages";
import { Icon } from "../../ui/icon";
import { Page } from "../../ui/page";
import { Section } from "../../ui/section";

/** All pages with settings, in groups. */
export default function SettingsPage() {
  return (
    <Page title="Settings">
      {listSettings().map(({ title, pages }) => (
        <Section key={title} title={title}>
          <ul class="settings-list">
            {pages.map(({ href, label, hint, icon }) => (
              <li key={href}>
                <a href={href}>
                  <Icon name={icon} />
                  <span>
                    <b>{label}</b>
                    <span class="soft">{hint}</span>
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </Section>
      ))}
    </Page>
  );
}
