/** The server status for every user: working components, version, documentation, and licenses. */
import { useEffect } from "preact/hooks";
import { api, must, type Schemas } from "../../app/api";
import { connection } from "../../app/connection";
import { useResource } from "../../app/resource";
import { isAdmin } from "../../app/session";
import { useRefresh } from "../../app/use-refresh";
import { Facts } from "../../ui/facts";
import { Page } from "../../ui/page";
import { Section } from "../../ui/section";
import { ResourceView } from "../../ui/states";
import { Documentation } from "./documentation";
import { Licenses } from "./licenses";
import { Overall, Parts } from "./parts";

type ServerStatus = Schemas["ServerStatus"];

const REFRESH_MS = 30_000;

export default function StatusPage() {
  const status = useResource<ServerStatus>((signal) => must(api.GET("/api/v1/status", { signal })), []);
  const isOnline = connection.value === "online";
  useRefresh(() => void status.reload(), REFRESH_MS);
  useEffect(() => {
    if (isOnline && status.state.peek().kind === "failed") void status.reload();
  }, [isOnline, status]);
  return (
    <Page title="System status">
      <ResourceView resource={status}>
        {(found) => (
          <>
            <Overall status={found} isOnline={isOnline} />
            <Section
              title="Components"
              hint={isAdmin.value ? <a href="/admin/health">Details for administrators</a> : null}
            >
              <Parts status={found} isOnline={isOnline} />
            </Section>
            <Section title="This server">
              <Facts
                facts={[
                  ["Version", `Offcut ${found.version}`],
                  ["Address", location.origin],
                  ["Recognized languages", nameLanguages(found.languages)],
                ]}
              />
            </Section>
          </>
        )}
      </ResourceView>
      <Documentation />
      <Licenses />
    </Page>
  );
}

/** Returns the names of languages, such as "English, German". */
function nameLanguages(codes: readonly string[]): string {
  const names = new Intl.DisplayNames("en", { type: "language" });
  return codes
    .map((code) => names.of(code) ?? code)
    .sort((one, other) => one.localeCompare(other))
    .join(", ");
}
